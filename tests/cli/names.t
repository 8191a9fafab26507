#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Guests with names that are meant to be more than names: each stays one name in every kind of line.
. tests/lib.sh

# name PID TEXT: QEMU's guest in this process has this name (printf's escapes).
cp -a tests/sysroot/amd "$TMP/amd"
name() {
	# shellcheck disable=SC2059
	printf "qemu-system-x86_64\\0-name\\0guest=$2\\0-accel\\0kvm\\0" \
		>"$TMP/amd/proc/$1/cmdline"
}

lines() {
	"$AT_ONCE" --sysroot "$TMP/amd" "$@" 2>&1
}

name 112 '=cmd()|"x"\n{"y":1}\r\033[2J\tz'
name 115 '=cmd()|"x"\n{"y":1}\r\033[2J\tz'
clean='=cmd()|"x"?{"y":1}??[2J?z'

is "$(lines -1 -b | LC_ALL=C sort | sed 's/  */ /g')" \
	"$clean(112) 1698 1698
$clean(115) 3018 3018" "-1 -b: a line each, each with its pid"
is "$(lines -1 --view guests | cut -d ' ' -f 1 | tail -n 2)" "$clean
$clean" "-1 --view guests"
is "$(lines -1 --view hotspots -f 0x3f8 | sed 's/.* =/=/; 1d' | LC_ALL=C sort)" "$clean  112
$clean  115" "-1 --view hotspots: each with its pid, too"
is "$(lines -l -n 1 -s 0.1 -b | sed -n '1s/.*s)  *//p')" "$clean(112) $clean(115)" \
	"-l -b: headings"
is "$(lines -l -n 1 -s 0.1 --view vcpus | cut -d ' ' -f 3 | sed 1d | sort -u)" "$clean" \
	"-l --view vcpus"
is "$(lines -l -c -n 1 -s 0.1 --view vcpus | sed 1d | cut -d , -f 2,3,5)" \
	'"=cmd()|""x""?{""y"":1}??[2J?z",0,121
"=cmd()|""x""?{""y"":1}??[2J?z",0,122
"=cmd()|""x""?{""y"":1}??[2J?z",1,123' "-c: one quoted field"
json=$(lines -1 --json --view guests)
is "$(printf '%s\n' "$json" | wc -l)" 1 "--json: one line"
is "$(printf '%s\n' "$json" | sed 's/{"guest"/\n&/g' | sed -n 's/^{\("guest".*\),"vcpus".*/\1/p')" \
	'"guest":"=cmd()|\"x\"?{\"y\":1}??[2J?z","pid":112
"guest":"=cmd()|\"x\"?{\"y\":1}??[2J?z","pid":115' "and one string for each"
for options in "-1 -b" "-1 --view hotspots" "-l -n 1 -s 0.1 --view guests" "-1 --json -b" \
	"-l -c -n 1 -s 0.1 --view hotspots"; do
	# shellcheck disable=SC2086 # words
	is "$(lines $options | tr -d '\n' | LC_ALL=C tr -dc '\000-\037')" "" \
		"no control character: $options"
done

name 112 'a,,b'
is "$(lines -l -c -n 1 -s 0.1 -b | sed 1d | cut -d , -f 2-4)" \
	'"a,b",112
"=cmd()|""x""?{""y"":1}??[2J?z",115,2' "a comma is quoted"

# The words of platforms: of one guest by libvirt's file, with Nova's metadata, of the other one by
# Proxmox' options. Each face has them, and -g takes them.
uuid=8f7d1c3a-0b52-4f1e-9d26-5a6b7c8d9e0f
other_uuid=7a5c6d2e-9d4b-4a0e-8f53-0c2f4a1f7b10
name 112 nova-1a
printf '/usr/bin/kvm\0-id\000101\0-name\0db1\0-smbios\0type=1,uuid=%s\0' $other_uuid \
	>"$TMP/amd/proc/115/cmdline"
# A history that a writer began without the right to read libvirt's file.
"$KVMTOP" --sysroot "$TMP/amd" -w "$TMP/words.db" -n 1 -s 0.1 >"$TMP/out" 2>&1
mkdir -p "$TMP/amd/run/libvirt/qemu"
domain=$TMP/amd/run/libvirt/qemu/nova-1a.xml
cat >"$domain" <<-EOF
	<domstatus state='running' reason='booted' pid='112'>
	  <domain type='kvm' id='3'>
	    <name>nova-1a</name>
	    <uuid>$uuid</uuid>
	    <metadata>
	      <nova:instance xmlns:nova="http://openstack.org/xmlns/libvirt/nova/1.1">
	        <nova:name>front &lt;1&gt;</nova:name>
	        <nova:flavor name="m1.large"/>
	        <nova:owner><nova:project uuid="995b4947">shop</nova:project></nova:owner>
	      </nova:instance>
	    </metadata>
	  </domain>
	</domstatus>
EOF

# words: the guests of a line of JSON, each with its words.
words() {
	tr -d '"' | sed 's/{guest:/\n&/g' | LC_ALL=C sort |
		sed 's/,pid.*,\(title:.*\),vmm_percent.*,\(uuid:[^}]*\)}.*/ \1,\2/' |
		sed -n 's/^{guest://p'
}
proxmox="db1 title:null,project:null,flavor:null,id:101,uuid:$other_uuid,pod:null"
nova="nova-1a title:front <1>,project:shop,flavor:m1.large,id:null,uuid:$uuid,pod:null"
is "$(lines -1 --json --view guests | words)" "$proxmox
$nova" "--json: the words of platforms"
is "$(lines -1 --view guests | tr -s ' ' | sed -n 's/^nova-1a 112 1 \(.* m1.large\) .*/\1/p')" \
	"front <1> shop m1.large" "-1: columns of words"
is "$(lines -l -c -n 1 -s 0.1 --view guests | sed -n 's/.*,nova-1a,112,1,qemu,\(.*\),,.*/\1/p' |
	cut -d , -f 1-3)" "front <1>,shop,m1.large" "-c: columns of words"
is "$("$KVMTOP" export --sysroot "$TMP/amd" --prometheus - -n 1 2>&1 |
	sed -n 's/^kvmtop_guest_info{\(.*\)} 1/\1/p' | tr -d '"' | LC_ALL=C sort)" \
	"guest=db1,uuid=$other_uuid,id=101,title=,project=,flavor=,pod=,pid=115,vmm=qemu
guest=nova-1a,uuid=$uuid,id=,title=front <1>,project=shop,flavor=m1.large,pod=,pid=112,vmm=qemu" \
	"labels of words"

"$KVMTOP" --sysroot "$TMP/amd" -w "$TMP/words.db" -n 2 -s 0.1 >"$TMP/out" 2>&1
is "$("$KVMTOP" -r "$TMP/words.db" -1 --json --view guests 2>&1 | words)" "$proxmox
$nova" "a history has the latest words"
for word in nova-1a "front <1>" "shop/front <1>" shop m1.large $uuid; do
	is "$(lines -1 -s 0.1 --json --view guests -g "$word" | words)" "$nova" "-g '$word'"
	is "$("$KVMTOP" -r "$TMP/words.db" -1 --json --view guests -g "$word" 2>&1 | words)" \
		"$nova" "-g '$word' of a history"
done
is "$(lines -1 --view guests -g front)" \
	'kvmtop: no guest named "front"; there are: db1, nova-1a' "a part of a word is none"
sed -i 's/pid=.112.>/&<</' "$domain"
is "$(lines -1 --json --view guests -g nova-1a | words)" \
	"nova-1a title:null,project:null,flavor:null,id:null,uuid:null,pod:null" \
	"a damaged file of libvirt has none"

done_testing
