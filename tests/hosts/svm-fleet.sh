#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two AMD hosts with an exporter each, and one Prometheus of this machine that asks both.
. tests/hosts/lib.sh
need_cmd prometheus promtool

svm_root /tests/hosts/exporter.sh
root_suite
root_add tests/hosts/exporter.sh /tests/hosts/exporter.sh
for file in /usr/lib/*/libmicrohttpd.so.12; do
	[ -e "$file" ] || cannot "libmicrohttpd is not installed"
	root_program "$file" "$file"
done
root_modules "$kernel" failover net_failover virtio virtio_ring virtio_pci_legacy_dev \
	virtio_pci_modern_dev virtio_pci virtio_net
root_end >"$TMP/initrd"

# Ports below the ones that the kernel gives to clients.
port=$(($(od -An -N2 -tu2 /dev/urandom) % 12000 + 20000))
targets=
for name in a b; do
	net=user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:$port-:9752
	net=$net,hostfwd=tcp:127.0.0.1:$((port + 2))-:9753
	svm_boot 1 768 "rcupdate.rcu_expedited=1 kvmtop_host=$name" -pidfile "$TMP/$name.pid" \
		-netdev "$net" \
		-device virtio-net-pci,netdev=net,romfile= >"$TMP/$name.log" 2>&1 &
	targets="$targets $name:$port"
	port=$((port + 1))
done
# shellcheck disable=SC2086 # words
sh tests/hosts/scraped.sh "$TMP" $targets
status=$?
for name in a b; do
	kill "$(cat "$TMP/$name.pid")"
done 2>/dev/null
wait
exit $status
