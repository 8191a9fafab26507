# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154,SC2317 # variables of inside.sh; wait_for calls functions
#
# exporter.sh - a host of svm-fleet.sh: guests with known exits, a screen, and an exporter at port
# 9752, until the host is ended from outside. The guests begin when somebody connects to port 9753.
. tests/lib.sh
. tests/hosts/inside.sh

ENGINE=bpf
name=$(sed 's/.*kvmtop_host=\([a-z]\).*/\1/' /proc/cmdline)
load_modules
ip link set lo up
ip addr add 10.0.2.15/24 dev eth0
ip link set eth0 up

kvmtop export --listen 0.0.0.0:9752 -s 1 2>"$TMP/listen.err" &
T_pids=$!
answers() {
	printf 'GET /healthz HTTP/1.0\r\n\r\n' | nc 127.0.0.1 9752 | grep -qx ok
}
wait_for 200 answers || diag "$(cat "$TMP/listen.err")"

# What differs between the hosts: host b has a guest more, and more exits.
case $name in
a) plans="one:77:55" ;;
*) plans="one:300:20 two:5:1234" ;;
esac
for plan in $plans; do
	exits=${plan#*:}
	guest "${plan%%:*}" --pio "${exits%:*}" --cpuid "${exits#*:}" --vcpus 2 --hold 900
done
batch_begin --view guests --json
echo "host $name waits"
nc -l -p 9753 </dev/null # until a client connects
echo "host $name goes on"
for plan in $plans; do
	guest_run "${plan%%:*}"
done
batch_end
# Prints the screen on the console, where svm-fleet.sh reads it.
sed 's/^/screen /' "$TMP/batch"
echo "host $name is ready"
sleep 900
