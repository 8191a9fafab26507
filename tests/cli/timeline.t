#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# kvmtop timeline as it is called: its sources together, uftrace and nm run by it, what goes wrong.
. tests/lib.sh

GUEST=$TMP/guest
OUT=$TMP/out.json

mkdir "$GUEST" "$TMP/bin"
cat >"$GUEST/dump.json" <<'EOF'
{"traceEvents":[
{"ts":1.000,"ph":"B","pid":5,"name":"main"},
{"ts":2.500,"ph":"E","pid":5,"name":"main"}
]}
EOF

# Plays uftrace: it prints what is in its folder.
cat >"$TMP/bin/uftrace" <<'EOF'
#!/bin/sh
echo "$*" >"$4/arguments"
[ -e "$4/fails" ] && exit 3
exec cat "$4/dump.json"
EOF
chmod +x "$TMP/bin/uftrace"

with_uftrace() {
	PATH=$TMP/bin:$PATH "$KVMTOP" timeline "$@"
}

with_uftrace -o "$OUT" -O 0 "$GUEST" 2>"$TMP/err"
is "$? $(cat "$TMP/err")" "0 " "a folder of uftrace's"
is "$(cat "$GUEST/arguments")" "dump --chrome -d $GUEST" "uftrace is run on it"
like "$(cat "$OUT")" \
	'"name":"main","cat":"function","pid":1,"tid":5,"ts":0.000,"dur":1.500' \
	"and what it prints is drawn"

is "$("$KVMTOP" timeline "$GUEST/dump.json" | grep -c '"name":"main"')" 1 \
	"what it printed before, onto standard output"

if command -v nm >/dev/null; then
	with_uftrace -o "$OUT" --binary "$HELPERS/miniguest" --binary-name app "$GUEST"
	like "$(cat "$GUEST/app.sym")" '^[0-9a-f]+ T main$' \
		"--binary: the program's symbols are there first"
	# A file with two names is written to directly.
	ln "$GUEST/app.sym" "$TMP/linked.sym"
	cp "$GUEST/app.sym" "$TMP/before.sym"
	is "$(status_of "$KVMTOP" timeline -o "$OUT" --binary "$TMP/none" --binary-name app \
		"$GUEST")" 1 "--binary: no such program"
	like "$(cat "$TMP/err")" "^kvmtop: nm failed on $TMP/none" "is told"
	check "and the symbols of before are there" cmp "$TMP/before.sym" "$GUEST/app.sym"
	rm "$TMP/linked.sym"
else
	skip "--binary: the program's symbols are there first" "nm is not installed"
fi

touch "$GUEST/fails"
with_uftrace -o "$OUT" "$GUEST" 2>"$TMP/err"
is "$? $(cat "$TMP/err")" "1 kvmtop: uftrace failed on $GUEST" "uftrace fails"
is "$(status_of env PATH=/nowhere "$KVMTOP" timeline -o "$OUT" "$GUEST")" 1 "no uftrace"
like "$(cat "$TMP/err")" '^kvmtop: uftrace cannot be run: No such file' "is told"
rm "$GUEST/fails"
cp -r "$GUEST" "$TMP/broken"
{ printf '{"traceEvents":[{"ts":1,"ph"oops'; head -c 300000 /dev/zero | tr '\0' x; } \
	>"$TMP/broken/dump.json"
with_uftrace -o "$OUT" "$TMP/broken" 2>"$TMP/err"
is "$? $(cat "$TMP/err")" "1 kvmtop: $TMP/broken: not an event of a Chrome trace at offset 16: \
write it again, as with uftrace dump --chrome" "what uftrace wrote is broken: where"
mkdir "$TMP/failing"
sed 's/^exec \(cat.*\)/\1; exit 3/' "$TMP/bin/uftrace" >"$TMP/failing/uftrace"
chmod +x "$TMP/failing/uftrace"
printf '{"traceEvents":[{"ts":1,' >"$TMP/broken/dump.json"
got=$(PATH=$TMP/failing:$PATH "$KVMTOP" timeline -o "$OUT" "$TMP/broken" 2>&1)
is "$got" "kvmtop: uftrace failed on $TMP/broken: $TMP/broken: ends too early, at offset 24: \
write it again, as with uftrace dump --chrome" "uftrace fails on the way: both are said"

# ---- several sources

printf 'rdtsc 61\n1.5,7,,kvm:kvm_exit,1,100.00,,\n' >"$TMP/stat"
with_uftrace -o "$OUT" --perf-stat "$TMP/stat" -m "$GUEST" "$GUEST/dump.json"
is "$? $(grep -c '"name":"main"' "$OUT")" "0 2" "-m: a trace of the host beside the guest's"
unlike "$(cat "$OUT")" '"ph":"M","(name|pid)"' "a name of a process or a track has a category, too"
like "$(cat "$OUT")" '"ph":"C","name":"kvm:kvm_exit","cat":"perf","pid":3,.*"args":\{"value":7\}' \
	"-p: counters"
is "$(status_of timeout 20 "$KVMTOP" timeline --perf-stat /dev/zero -o "$OUT")" \
	1 "a line without an end"
is "$(cat "$TMP/err")" \
	"kvmtop: /dev/zero:1: not a line of perf stat -I -j, or -x with one of #,;|" "is refused"

is "$(status_of "$KVMTOP" timeline -o "$OUT" --perf-stat "$TMP/none" "$GUEST/dump.json")" \
	1 "one is missing"
is "$(grep -c '"name":"main"' "$OUT")" 1 "the others are drawn"

# ---- what was in the place of the output

echo "of yesterday" >"$OUT"
chmod 640 "$OUT"
is "$(status_of "$KVMTOP" timeline -o "$OUT" -r "$TMP/none" "$GUEST/dump.json")" 1 \
	"-r cannot be opened"
is "$(cat "$OUT")" "of yesterday" "what was there before still is"
is "$(status_of "$KVMTOP" timeline -o "$OUT" "$TMP/none")" 1 "nor can the only guest's trace"
is "$(cat "$OUT")" "of yesterday" "what was there before still is"
is "$(status_of "$KVMTOP" timeline -o "$OUT" "$TMP/stat")" 1 "nor is anything in it to be drawn"
is "$(cat "$OUT")" "of yesterday" "what was there before still is"
: >"$TMP/nothing"
is "$(status_of "$KVMTOP" timeline -o "$OUT" --perf-stat "$TMP/nothing")" \
	1 "nor has perf counted anything"
like "$(cat "$TMP/err")" 'nothing: no counter has a value' "which is said"
is "$(cat "$OUT")" "of yesterday" "what was there before still is"
is "$(status_of "$KVMTOP" timeline -o "$GUEST/dump.json" "$GUEST/dump.json")" 1 "over what is read"
like "$(cat "$TMP/err")" 'dump.json: this file is an input' "is refused"
is "$(status_of "$KVMTOP" timeline -o "$TMP/new" "$TMP/none")" 1 "there was nothing"
check "there is nothing" test ! -e "$TMP/new"
ln -s out.json "$TMP/link"
is "$(status_of "$KVMTOP" timeline -o "$TMP/link" "$GUEST/dump.json")" 0 "a link to a file"
is "$(readlink "$TMP/link") $(stat -c %a "$OUT")" "out.json 640" \
	"stays a link to a file of that mode"
is "$(grep -c '"name":"main"' "$OUT")" 1 "which is the new one"
is "$(find "$TMP" -name 'out.json*')" "$OUT" "nothing else is left there"
mkfifo "$TMP/fifo"
timeout 10 cat "$TMP/fifo" >"$TMP/drawn" &
is "$(status_of "$KVMTOP" timeline -o "$TMP/fifo" "$GUEST/dump.json")" 0 "into a pipe"
wait $!
is "$(grep -c '"name":"main"' "$TMP/drawn")" 1 "goes into the pipe"
is "$("$KVMTOP" timeline -o - "$GUEST/dump.json" | grep -c '"name":"main"')" 1 \
	"- is standard output"
check "and no file" test ! -e -

# When it is killed it reads from a pipe that has no writer any more.
mkfifo "$TMP/slow"
echo "of yesterday" >"$OUT"
spawn "$KVMTOP" timeline -o "$OUT" "$TMP/slow"
exec 3<>"$TMP/slow"
head -n 2 "$GUEST/dump.json" >&3
kill -9 "$SPAWNED" 2>/dev/null
wait "$SPAWNED" 2>/dev/null
exec 3>&-
is "$(find "$TMP" -name 'out.json*') $(cat "$OUT")" "$OUT of yesterday" "killed while it draws"

# ---- ACRN: an exit on CPU 1, at 1 GHz

# word64 NUMBER...: each as 8 bytes, little endian.
word64() {
	for t_number; do
		for t_shift in 0 8 16 24 32 40 48 56; do
			# shellcheck disable=SC2059
			printf "\\$(printf %03o $((t_number >> t_shift & 255)))"
		done
	done
}

{
	word64 1000 $((1 << 56 | 2 << 48 | 0x10)) 12 0x1000
	word64 4000 $((1 << 56 | 2 << 48 | 0x11)) 0 0
	word64 5000 $((1 << 56 | 2 << 48 | 0x10)) 30 0x1000
} >"$TMP/1"
"$KVMTOP" timeline -r "$TMP/1" --frequency 1000000 -o "$OUT"
is "$? $(grep -c '"name":"HLT","cat":"kvm","pid":1,"tid":1,"ts":0.000,"dur":3.000' "$OUT")" "0 1" \
	"ACRN's exits, on the track of their CPU"
like "$(cat "$OUT")" '"base":"1000","base-unit":"TSC","tsc-khz":1000000' \
	"what time the picture begins at"
"$KVMTOP" timeline -r "$TMP/1" --frequency 2893217.5 -o "$OUT"
like "$(cat "$OUT")" '"name":"HLT",.*"ts":0.000,"dur":1.036,' "-f: a fraction of a kHz"
like "$(cat "$OUT")" '"tsc-khz":2893217.5[,}]' "is what the picture says"
head -c 50 "$TMP/1" >"$TMP/cut"
is "$(status_of "$KVMTOP" timeline -r "$TMP/cut" --frequency 1000000)" \
	1 "a recording that is cut off"
like "$(cat "$TMP/err")" "^kvmtop: $TMP/cut: at byte 32: " "the rest is named with its place"
like "$(cat "$TMP/out")" '"name":"HLT"' "what was there is drawn"
is "$(status_of "$KVMTOP" timeline -r "$TMP/1")" 1 "TSCs without a frequency"

word64 1500 $((2 << 56 | 2 << 48 | 0x10)) 10 0x2000 3500 $((2 << 56 | 2 << 48 | 0x11)) 0 0 >"$TMP/2"
"$KVMTOP" timeline -r "$TMP/1" -r "$TMP/2" --frequency 1000000 -o "$OUT"
is "$? $(grep -c '"ph":"X"' "$OUT")" "0 7" "the files of two CPUs"
like "$(cat "$OUT")" '"name":"CPUID","cat":"kvm","pid":1,"tid":2,"ts":0.500,"dur":2.000' \
	"are one machine on one clock"

word64 10 $((0x1215 << 48 | 0x10)) 12 0 20 $((0x1202 << 48 | 0x10)) 10 0 \
	30 $((0x1215 << 48 | 0x11)) 0 0 40 $((0x1415 << 48 | 0x1001e)) 0 0 >"$TMP/vm"
"$KVMTOP" timeline -r "$TMP/vm" --frequency 1000000 -o "$OUT"
like "$(cat "$OUT")" '"process_name","pid":1,"args":\{"name":"VM 5"\}' "a VM that the file names"
like "$(cat "$OUT")" '"name":"HLT","cat":"kvm","pid":1,"tid":1,"ts":0.000,"dur":0.020' \
	"has its own exit, whatever ran on the CPU in between"

# ---- how far it is

if has_screen; then
	mkfifo "$TMP/slow.json"
	screen_start 60 5 "$KVMTOP timeline -o $TMP/slow-out $TMP/slow.json; echo drawn; sleep 60"
	{
		sleep 1.2
		head -n 2 "$GUEST/dump.json"
		printf '%10000s' ''
		sleep 1
		tail -n +3 "$GUEST/dump.json"
	} >"$TMP/slow.json" &
	screen_has '^0 MiB read$' "what takes over a second says how far it is"
	screen_has '^drawn$' "and clears the line"
	screen_stop
else
	skip "a slow trace" "$T_no_screen"
fi

# ---- a guest's own trace.dat beside its host's

"$HELPERS/trace_make" host "$TMP/host.dat" 20
"$HELPERS/trace_make" guest "$TMP/guest.dat" 5
"$KVMTOP" timeline -r "$TMP/host.dat" -o "$TMP/host.json"
"$KVMTOP" timeline --frequency 2100000 -r "$TMP/host.dat" -o "$OUT"
same_files "$OUT" "$TMP/host.json" "-f: nanoseconds stay what they are"
is "$(status_of "$KVMTOP" timeline -r "$TMP/host.dat" --perf-stat "$TMP/stat" -o "$OUT")" 1 \
	"rdtsc without TSCs"
like "$(cat "$TMP/err")" 'stat: rdtsc in the first line needs a recording with times in TSC' \
	"is refused"
"$KVMTOP" timeline -r "$TMP/host.dat" -o "$OUT" "$GUEST/dump.json" 2>"$TMP/err"
like "$(cat "$TMP/err")" "dump.json: the recording's times are not in TSC cycles" \
	"a guest's times on another clock are told"
"$KVMTOP" timeline -r "$TMP/guest.dat" -r "$TMP/host.dat" -o "$OUT"
like "$(cat "$OUT")" '"process_name","pid":[12],"args":\{"name":"web1"\}' \
	"the guest as the host sees it"
like "$(cat "$OUT")" '"process_name","pid":[12],"args":\{"name":"inside web1"\}' "and from inside"
like "$(cat "$OUT")" '"kvm_entry|"name":"CPUID","cat":"kvm","pid":1,"tid":77,"ts":2.000' \
	"the host's first event is the beginning"
like "$(cat "$OUT")" '"name":"sched_waking","cat":"sched","pid":2,"tid":1,"ts":2.500' \
	"the guest's are on the host's clock"
like "$(cat "$OUT")" '"name":"CPUID",.*"guest_rip":"?[0-9a-fx]+"?,"function":"do_idle\+0x5"' \
	"exits have the names of its own symbols"
unlike "$(cat "$TMP/host.json")" '"function"' "which its host's recording alone has not"
is "$("$KVMTOP" report --longer 0.5us --csv "$TMP/host.dat" "$TMP/guest.dat" 2>/dev/null |
	grep -c ',do_idle+0x5')" 17 "so does the list of long exits"
is "$("$KVMTOP" report --longer 0.5us --csv "$TMP/host.dat" | grep -c ',do_idle+0x5')" 0 \
	"if both are read"
if command -v trace-cmd >/dev/null; then
	# Nanoseconds since the host's first event, which is at 1. Before them trace-cmd 3.2 and
	# later has a column more.
	trace-cmd report -t -i "$TMP/host.dat" -i "$TMP/guest.dat" 2>/dev/null |
		sed -n 's/.* \([0-9.]*\): sched_waking:.*/\1/p' |
		awk '{ printf "%.3f\n", $1 * 1e6 - 0.001 }' >"$TMP/theirs"
	sed -n 's/.*"sched_waking".*"ts":\([0-9.]*\),.*/\1/p' "$OUT" >"$TMP/ours"
	is "$(wc -l <"$TMP/ours")" 5 "all of them"
	is "$(cat "$TMP/ours")" "$(cat "$TMP/theirs")" "at the times that trace-cmd says"
else
	skip "at the times that trace-cmd says" "trace-cmd is not installed"
fi

# ---- Perfetto's own format

# Debian's Python, which has Debian's modules.
python=/usr/bin/python3

# same_events LABEL ARGUMENT...: both formats have the same events, names and order of tracks.
same_events() {
	t_label=$1
	shift
	"$KVMTOP" timeline "$@" -o "$TMP/chrome" 2>/dev/null
	"$KVMTOP" timeline "$@" --format perfetto -o "$TMP/perfetto" 2>/dev/null
	is "$($python tests/cli/read_perfetto.py "$TMP/perfetto" "$TMP/chrome" 2>&1)" \
		"$(grep -c '^{"ph":"[XiCsf]"' "$TMP/chrome") events" "perfetto: $t_label"
}

# Names and texts: with escapes, in UTF-8, damaged, equal to a category, longer than a block.
{
	printf '{"traceEvents":[\n'
	printf '{"ts":0.5,"ph":"E","pid":5,"name":"began before"},\n'
	printf '{"ts":1,"ph":"B","pid":5,"name":"a\\"b\\\\c\\n\303\244 \377",'
	printf '"args":{"n":-7,"t":"\303\244\\u0001"}},\n'
	printf '{"ts":1,"ph":"B","pid":5,"name":"function","args":{"kvm":"","long":"%0900d"}},\n' 0
	printf '{"ts":1.001,"ph":"E","pid":5,"name":"function",'
	printf '"args":{"most":9223372036854775807}},\n'
	printf '{"ts":2.5,"ph":"E","pid":5},\n'
	printf '{"ts":3,"ph":"B","pid":5,"tid":6,"name":"%0300000d"},\n' 1
	printf '{"ts":4,"ph":"E","pid":5,"tid":6},\n'
	seq 5 3000 | sed 's/.*/{"ts":&,"ph":"B","pid":5,"tid":7,"name":"n&"},/
		h; s/"B"/"E"/; s/:\([0-9]*\),/:\1.5,/; H; x'
	printf '{"ts":3001,"ph":"B","pid":5,"tid":-1,"name":"is cut"}\n]}\n'
} >"$TMP/calls.json"
printf '%s,%s,,%s,1,100.00,,\n' 1 7 a 1 0.25 b 1 9223372036854775808 c 1 '<not counted>' d \
	2 -3 a 2 1e3 b 2 '<not counted>' c 2 8 d >"$TMP/counters"
"$HELPERS/trace_make" perf "$TMP/perf" 5000

# Two functions in turns, each of two samples of 2 us, which one function calls all the time.
"$HELPERS/trace_make" stacks "$TMP/stacks" 8
"$KVMTOP" timeline -r "$TMP/stacks" -o "$TMP/chrome"
is "$(sed -n 's/.*"name":"\([^"]*\)","cat":"code",.*"ts":\(.*\),"dur":\([0-9.]*\)}.*/\1 \2 \3/p' \
	"$TMP/chrome")" "vmm+0x5000 0.000 14.500
vmm+0x4008 0.000 2.500
vmm+0x4108 2.500 4.000
vmm+0x4008 6.500 4.000
vmm+0x4108 10.500 4.000" "samples with stacks are calls on a track"
is "$(grep -c '"args":{"name":"vCPU 3: code"}' "$TMP/chrome")" 1 "of the vCPU's code"

if $python -c 'import google.protobuf' 2>/dev/null; then
	same_events "a trace.dat, which has lost events" -r "$TMP/host.dat"
	same_events "a guest's and its host's" -r "$TMP/guest.dat" -r "$TMP/host.dat"
	same_events "ACRN's, with the TSC as its clock" \
		-r "$TMP/1" -r "$TMP/2" --frequency 2893217.5
	same_events "more than a block of perf.data" -r "$TMP/perf"
	same_events "samples with stacks" -r "$TMP/stacks"
	same_events "function calls" "$TMP/calls.json"
	same_events "counters" --perf-stat "$TMP/counters"
	same_events "all of them" -r "$TMP/perf" --perf-stat "$TMP/counters" -m "$TMP/calls.json" -F
else
	skip "Perfetto's format, read by another program" "Python or its protobuf is not installed"
fi
"$KVMTOP" timeline -r "$TMP/perf" -o "$TMP/chrome"
"$KVMTOP" timeline -r "$TMP/perf" --format perfetto -o "$TMP/perfetto"
check "it is at most a fifth of Chrome's" \
	test $((5 * $(stat -c %s "$TMP/perfetto"))) -le "$(stat -c %s "$TMP/chrome")"
"$KVMTOP" timeline -r "$TMP/perf" --format perfetto >"$TMP/piped"
same_files "$TMP/piped" "$TMP/perfetto" "onto standard output: the same"
# A thread's stack is as large as the limit says, and there is no such room.
prlimit --stack=4000000000 --as=2000000000 \
	timeout 60 "$KVMTOP" timeline -r "$TMP/perf" --format perfetto -o "$TMP/alone"
same_files "$TMP/alone" "$TMP/perfetto" "without a thread that compresses: the same"
if [ -e /dev/full ]; then
	is "$(status_of "$KVMTOP" timeline --format perfetto -r "$TMP/perf" -o /dev/full)" 1 \
		"perfetto: a full disk"
fi
is "$(limited "$KVMTOP" timeline --format perfetto -r "$TMP/perf")" "$too_large" \
	"perfetto: ulimit -f"
is "$(status_of "$KVMTOP" timeline --format vcd "$GUEST/dump.json")" 2 "a format that is none"

# ---- the bar, where it takes over a second

if has_screen; then
	"$HELPERS/trace_make" acrn "$TMP/large" 100000
	screen_start 80 24 "(cat $TMP/large; sleep 1.3; cat $TMP/large; sleep 0.3) |
		$KVMTOP timeline --frequency 1000000 -r - | grep -c EXTERNAL; sleep 9"
	screen_has '^[0-9]+ MiB read' "a bar is shown"
	screen_has '^25000$' "and gone at the end"
	unlike "$(screen_shot)" "MiB" "without a trace"
	screen_stop
else
	skip "the bar" "$T_no_screen"
fi

# ---- the real uftrace, on a program of ours

reason=
for need in uftrace cc; do
	command -v $need >/dev/null || reason="$need is not installed"
done
if [ -n "$reason" ]; then
	skip "what uftrace recorded" "$reason"
else
	cat >"$TMP/app.c" <<-'EOF'
		int fib(int n);
		int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
		int main(void) { return fib(6) != 8; }
	EOF
	cc -pg -O0 -o "$TMP/app" "$TMP/app.c"
	uftrace record -d "$TMP/recorded" "$TMP/app" >/dev/null 2>&1
	is "$(status_of "$KVMTOP" timeline -o "$OUT" "$TMP/recorded")" 0 "what uftrace recorded"
	is "$(grep -c '"name":"fib","cat":"function"' "$OUT")" 25 "every call is drawn"
	is "$(grep -c '"name":"main","cat":"function"' "$OUT")" 1 "once"
fi

# ---- what record wrote

reason=$( (need_live) | sed -n 's/.*SKIP //p')
if [ -z "$reason" ] && [ ! -e "$(tracefs)/events/kvm/kvm_pio" ]; then
	reason="this kernel has no kvm_pio"
fi
if [ -n "$reason" ]; then
	skip "every event that was recorded is in the picture" "$reason"
else
	"$KVMTOP" record -o "$TMP/dat" -e kvm_pio --filter 'port == 0xe9' \
		"$HELPERS/miniguest" --pio 321 >/dev/null 2>"$TMP/err"
	events=$(sed -n 's/.*: \([0-9]*\) events, .* MiB$/\1/p' "$TMP/err")
	"$KVMTOP" timeline -r "$TMP/dat" -o "$OUT"
	check "the guest's port writes are among them" test "$events" -ge 321
	is "$(grep -c '"ph":"i","name":"kvm_pio"' "$OUT")" "$events" \
		"every event that was recorded is in the picture"
	mkfifo "$TMP/in"
	# shellcheck disable=SC2016
	spawn sh -c 'exec "$@" <>"$0"' "$TMP/in" "$HELPERS/miniguest" --wait --hold 20 --vcpus 2 \
		--name "drawn$$" --pio 3 >"$TMP/guest.out"
	wait_for 30 grep -q ready "$TMP/guest.out"
	"$KVMTOP" record -o "$TMP/dat" -g "drawn$$" -e kvm_pio \
		sh -c 'echo >"$0"; sleep 0.3' "$TMP/in" 2>/dev/null
	"$KVMTOP" timeline -r "$TMP/dat" -o "$OUT"
	like "$(cat "$OUT")" \
		'"name":"process_name","pid":1,"args":\{"name":"drawn[0-9]+ \([0-9]+\)"\}' \
		"guests have the names that record saw"
	is "$(grep -c '"thread_name",.*"name":"vCPU [01]"' "$OUT")" 2 "and their vCPUs numbers"
	is "$(grep -c '"name":"kvm_pio",.*"pid":1' "$OUT")" 6 "and all they did is theirs"
fi

# ---- wrong usage

is "$(status_of "$KVMTOP" timeline)" 2 "nothing to draw"
is "$(status_of "$KVMTOP" timeline -F "$GUEST/dump.json")" 2 "-F without -r"
is "$(status_of "$KVMTOP" timeline --binary x --perf-stat "$TMP/stat")" \
	2 "--binary without a guest's trace"
is "$(status_of "$KVMTOP" timeline -O far "$GUEST/dump.json")" 2 "an offset that is no number"
printf '{"traceEvents":[{"ph":' >"$TMP/short.json"
is "$(status_of "$KVMTOP" timeline -o "$TMP/none.json" "$TMP/short.json"): $(cat "$TMP/err")" \
	"1: kvmtop: $TMP/short.json: ends too early, at offset 22: write it again, as with uftrace \
dump --chrome" "a dump that was cut"
is "$(status_of "$KVMTOP" timeline --input-format vcd -r "$TMP/stat")" 2 "a format that is none"
for khz in 0 -1 nan inf 2e12 1x ''; do
	is "$(status_of "$KVMTOP" timeline --frequency "$khz" "$GUEST/dump.json")" 2 \
		"--frequency \"$khz\""
done
is "$(status_of "$KVMTOP" timeline tests/data/trace/small-v7.dat)" 1 "a recording without -r"
is "$(cat "$TMP/err")" "kvmtop: tests/data/trace/small-v7.dat: is a recording of the host, not \
function calls: give it with -r" "is told what it needs"
is "$(status_of "$KVMTOP" timeline -r "$TMP/none")" 1 "no such file"
is "$(status_of "$KVMTOP" timeline -r "$TMP")" 1 "a folder"
is "$(status_of "$KVMTOP" timeline -r "$TMP/stat")" 1 "no recording"
is "$(status_of "$KVMTOP" timeline -o "$TMP/no/folder" "$GUEST/dump.json")" 1 "no such folder"
is "$(status_of "$KVMTOP" timeline --help)" 0 "--help"
if [ -e /dev/full ]; then
	is "$(status_of "$KVMTOP" timeline -o /dev/full "$GUEST/dump.json")" 1 "a full disk"
	"$KVMTOP" timeline "$GUEST/dump.json" >/dev/full 2>/dev/null
	is "$?" 1 "a full disk behind standard output"
fi
is "$(limited "$KVMTOP" timeline -r "$TMP/perf")" "$too_large" "ulimit -f"
is "$(limited "$KVMTOP" timeline -o "$TMP/limited.json" -r "$TMP/perf")" \
	"kvmtop: $TMP/limited.json: cannot be written: File too large
1" "ulimit -f for -o"
check "leaves no file" test ! -e "$TMP/limited.json"
is "$(limited "$KVMTOP" timeline -o "$TMP/limited.json" "$GUEST/dump.json")" \
	"kvmtop: what is drawn cannot be kept in a file: File too large; set TMPDIR
1" "what waits for the earliest time has no room"
check "leaves no file" test ! -e "$TMP/limited.json"
is "$(TMPDIR=$TMP/none "$KVMTOP" timeline "$GUEST/dump.json" 2>&1 >/dev/null)" \
	"kvmtop: $TMP/none: no file can be made there: No such file or directory" "or no folder"

done_testing
