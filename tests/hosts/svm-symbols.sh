#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# An AMD host in which QEMU boots Linux, whose functions are named from its memory. GUEST_RELEASE:
# the release of Debian with the guest's kernel (the host's).
. tests/hosts/lib.sh

svm_root /tests/hosts/symbols.sh
root_suite
root_add tests/hosts/symbols.sh /tests/hosts/symbols.sh
root_qemu

guest_kernel=$(RELEASE=${GUEST_RELEASE:-${RELEASE:-}} kernel amd64 linux-image-cloud-amd64) ||
	cannot "no kernel for the guest: $(why)"

# The guest writes its list on a disk.
guest=$TMP/guest
mkdir -p "$guest/bin" "$guest/dev" "$guest/proc"
cp "$(static_busybox)" "$guest/bin/busybox"
cat >"$guest/init" <<'END'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t devtmpfs dev /dev
echo 0 >/proc/sys/kernel/kptr_restrict
cat /proc/kallsyms >/list
dd if=/list of=/dev/nvme0n1 bs=64k conv=sync,fsync 2>/dev/null
echo the list is written
while :; do
	dd if=/dev/zero of=/dev/null bs=1M count=10 2>/dev/null
	echo more
done
END
chmod +x "$guest/init"
root_end "$guest" >"$TMP/guest-initrd"
root_add "$TMP/guest-initrd" /guest/initrd
root_add "$(echo "$guest_kernel"/boot/vmlinuz-*)" /guest/vmlinuz

root_end >"$TMP/initrd"
svm_boot 1 1024 ""
