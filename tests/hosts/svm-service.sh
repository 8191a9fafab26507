#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An AMD host with systemd as its first process, which runs kvmtop's services.
. tests/hosts/lib.sh

systemd=/lib/systemd/systemd
need_cmd systemctl systemd-analyze
[ -x $systemd ] || cannot "$systemd is not installed"

svm_root
root_suite
root_add tests/hosts/service.sh /tests/hosts/service.sh
for file in packaging/systemd/kvmtop-*; do
	root_add "$file" "/etc/systemd/system/${file##*/}"
done
root_program "$KVMTOP" /usr/bin/kvmtop

root_program $systemd $systemd
for file in /lib/systemd/systemd-executor /lib/systemd/systemd-shutdown \
	/usr/lib/*/libseccomp.so.2 /usr/lib/*/libmount.so.1 /usr/lib/*/libmicrohttpd.so.12; do
	[ ! -e "$file" ] || root_program "$file" "$file"
done
root_program "$(command -v systemctl)" /bin/systemctl
root_program "$(command -v systemd-analyze)" /bin/systemd-analyze

# Of systemd's own units, only the ones that kvmtop's services wait for.
for unit in sysinit.target basic.target shutdown.target final.target umount.target local-fs.target \
	local-fs-pre.target sockets.target sys-kernel-tracing.mount sys-kernel-debug.mount; do
	root_add "/lib/systemd/system/$unit"
done
units=$TMP/root/etc/systemd/system
cat >"$units/suite.service" <<'END'
[Unit]
After=sys-kernel-tracing.mount sys-kernel-debug.mount
Requires=sys-kernel-tracing.mount sys-kernel-debug.mount

[Service]
Type=oneshot
ExecStart=/bin/busybox sh /tests/hosts/service.sh
ExecStopPost=/bin/busybox poweroff -f
StandardInput=null
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0
END

root_end >"$TMP/initrd"
svm_boot 2 768 "rcupdate.rcu_expedited=1 rdinit=$systemd systemd.unit=suite.service \
systemd.show_status=no systemd.log_target=kmsg systemd.log_level=warning"
