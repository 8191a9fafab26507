#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The JSON schema says what the output has: every view, finding and metric, with type and unit.
. tests/lib.sh
need_cmd python3

"$KVMTOP" --schema >"$TMP/schema"

# Holds lines of JSON against the words of the schema that kvmtop writes.
cat >"$TMP/check.py" <<'E2'
import json, sys

schema = json.load(open(sys.argv[1]))
types = {"string": str, "integer": int, "number": (int, float), "array": list, "object": dict,
         "null": type(None)}
UNITS = {"_percent": "percent", "_ns": "ns", "rate": "per second"}
known = {"$schema", "title", "description", "type", "required", "properties", "oneOf", "$defs",
         "additionalProperties", "patternProperties", "items", "const", "$ref", "unit", "findings",
         "metrics"}
seen = set()


def errors(value, rule, path):
    if set(rule) - known:
        yield "%s: the schema has %s" % (path, set(rule) - known)
    if "$ref" in rule:
        name = rule["$ref"].split("/")[-1]
        seen.add(name)
        yield from errors(value, schema["$defs"][name], path)
    if "const" in rule and value != rule["const"]:
        yield "%s: is %r" % (path, value)
    wanted = rule.get("type", list(types))
    wanted = [wanted] if isinstance(wanted, str) else wanted
    if not any(isinstance(value, types[t]) and (t == "object" or value is not True)
               for t in wanted) and "const" not in rule:
        yield "%s: is %r, not %s" % (path, value, wanted)
    if isinstance(value, list) and "items" in rule:
        for i, item in enumerate(value):
            yield from errors(item, rule["items"], "%s[%d]" % (path, i))
    if not isinstance(value, dict):
        return
    for name in rule.get("required", []):
        if name not in value:
            yield "%s: lacks %s" % (path, name)
    for name, part in value.items():
        if name in rule.get("properties", {}):
            yield from errors(part, rule["properties"][name], path + "." + name)
        elif name.endswith("_cycles") and "patternProperties" in rule:
            yield from errors(part, rule["patternProperties"]["_cycles$"], path + "." + name)
        elif rule.get("additionalProperties") is False:
            yield "%s: has %s" % (path, name)
    if "oneOf" in rule:
        fits = [r for r in rule["oneOf"] if r["properties"]["view"]["const"] == value["view"]]
        if len(fits) != 1:
            yield "%s: %d views are named %s" % (path, len(fits), value["view"])
        for fit in fits:
            yield from errors(value, fit, path)


for name, view in schema["$defs"].items():
    for key, part in view["properties"].items():
        for end, unit in UNITS.items():
            if key.endswith(end) and key != "end_ns" and part.get("unit") != unit:
                print("%s.%s is in %s" % (name, key, part.get("unit")))
for nr, line in enumerate(sys.stdin, 1):
    if line.startswith("{"):
        for error in errors(json.loads(line), schema, "line %d" % nr):
            print(error)
print(*sorted(set(schema["$defs"]) - seen))
E2

# of_machines: a line of each view.
of_machines() {
	for machine in amd intel arm64; do
		for view in events guests vcpus exits hotspots host why; do
			"$AT_ONCE" --sysroot tests/sysroot/$machine -1 --json --view $view
		done
	done
	"$KVMTOP" -r tests/data/trace/svm-perf.data --json
	"$KVMTOP" report tests/data/trace/svm-perf.data --longer 1us --json
	"$KVMTOP" report tests/data/trace/svm-perf.data --diff tests/data/trace/small-v7.dat --json
	"$KVMTOP" -r tests/data/history/version-2.db --json
	cat tests/golden/*json*.txt tests/golden/*.json
}
of_machines >"$TMP/lines" 2>"$TMP/err"
is "$(python3 "$TMP/check.py" "$TMP/schema" <"$TMP/lines")" "hosts interrupts where who" \
	"lines of all views that need no guest are as the schema says"
sed 's/"pid":[0-9][0-9]*/"pid":"x"/' "$TMP/lines" >"$TMP/wrong"
like "$(python3 "$TMP/check.py" "$TMP/schema" <"$TMP/wrong")" ".pid: is 'x', not" \
	"another type is seen"
sed 's/"rate":/"speed":/' "$TMP/lines" >"$TMP/wrong"
like "$(python3 "$TMP/check.py" "$TMP/schema" <"$TMP/wrong")" "has speed" "and another name"

# words KEY LIST: of the schema's findings, or metrics.
words() {
	python3 -c 'import json, sys
for row in json.load(open(sys.argv[1]))[sys.argv[3]]:
    print(" ".join(str(row[key] or "") for key in sys.argv[2].split(",")).strip())' \
		"$TMP/schema" "$1" "$2" | sort
}
# Some findings share a threshold, and three thresholds are of all.
is "$(words threshold,default findings | sed 's/\.0$//' | sort -u)" \
	"$("$KVMTOP" --thresholds help |
		sed '1,3d; s/^# \([a-z_]*\) = \([0-9.]*\).*/\1 \2/' | sort -u)" \
	"findings are the ones that have thresholds"
"$AT_ONCE" export --sysroot tests/sysroot/amd --prometheus "$TMP/a.prom" -n 2 -s 0.1 \
	--metrics user,reasons,events,statistics,arguments
words name,type metrics >"$TMP/metrics"
is "$(sed -n 's/^# TYPE //p' "$TMP/a.prom" | sort | comm -23 - "$TMP/metrics")" "" \
	"metrics have the types that are exported"
done_testing
