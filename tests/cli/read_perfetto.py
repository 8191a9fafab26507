#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# read_perfetto.py - reads a timeline in Perfetto's format with Google's protobuf library, which
# shares no code with the program, and compares it with the timeline in Chrome's.
#
# usage: read_perfetto.py PERFETTO CHROME	the first differences; exit status 1 if there are some
#	read_perfetto.py PERFETTO		its events as lines of JSON, as Chrome's has them
#
# Messages and fields have Perfetto's names and numbers, as far as they are used here.
import collections
import json
import sys
import zlib

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

# message: field, number, type; a capital: a message; *: repeated
MESSAGES = """
Trace		packet 1 *TracePacket
TracePacket	clock_snapshot 6 ClockSnapshot  timestamp 8 uint64  trusted_packet_sequence_id 10 uint32
		track_event 11 TrackEvent  interned_data 12 InternedData  sequence_flags 13 uint32
		compressed_packets 50 bytes  timestamp_clock_id 58 uint32
		trace_packet_defaults 59 TracePacketDefaults  track_descriptor 60 TrackDescriptor
		first_packet_on_sequence 87 bool  trace_attributes 126 TraceAttributes
ClockSnapshot	clocks 1 *Clock
Clock		clock_id 1 uint32  timestamp 2 uint64  is_incremental 3 bool
TracePacketDefaults	track_event_defaults 11 TrackEventDefaults  timestamp_clock_id 58 uint32
TrackEventDefaults	track_uuid 11 uint64
InternedData	event_categories 1 *Name  event_names 2 *Name  debug_annotation_names 3 *Name
Name		iid 1 uint64  name 2 string
TrackDescriptor	uuid 1 uint64  name 2 string  process 3 ProcessDescriptor  thread 4 ThreadDescriptor
		parent_uuid 5 uint64  counter 8 CounterDescriptor  sibling_order_rank 12 int32
		sibling_merge_behavior 15 int32  process_ordering 19 int32  thread_ordering 20 int32
ProcessDescriptor	pid 1 int32  process_name 6 string
ThreadDescriptor	pid 1 int32  tid 2 int64  thread_name 5 string
CounterDescriptor	categories 2 *string
TrackEvent	category_iids 3 *uint64  debug_annotations 4 *DebugAnnotation  type 9 int32
		name_iid 10 uint64  track_uuid 11 uint64  counter_value 30 int64
		double_counter_value 44 double  flow_ids 47 *fixed64  terminating_flow_ids 48 *fixed64
DebugAnnotation	name_iid 1 uint64  int_value 4 int64  double_value 5 double  string_value 6 string
		pointer_value 7 uint64
TraceAttributes	attribute 1 *Attribute
Attribute	key 1 string  long_value 2 int64  string_value 3 string
"""
TYPE_BEGIN, TYPE_END, TYPE_INSTANT, TYPE_COUNTER = 1, 2, 3, 4
CLEARED, NEEDS_STATE = 1, 2
CLOCK_OF_TRACE = 6


def trace_class():
    field_types = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="trace", package="perfetto", syntax="proto2")
    words = collections.deque(MESSAGES.split())
    while words:
        if len(words) < 3 or not words[1].isdigit():
            message = file.message_type.add(name=words.popleft())
            continue
        name, number, kind = (words.popleft() for _ in range(3))
        field = message.field.add(name=name, number=int(number))
        field.label = field_types.LABEL_REPEATED if kind[0] == "*" else field_types.LABEL_OPTIONAL
        kind = kind.lstrip("*")
        if kind[0].isupper():
            field.type = field_types.TYPE_MESSAGE
            field.type_name = ".perfetto." + kind
        else:
            field.type = getattr(field_types, "TYPE_" + kind.upper())
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    descriptor = pool.FindMessageTypeByName("perfetto.Trace")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(pool).GetPrototype(descriptor)


class Sequence:
    """What a sequence of packets has said so far."""

    def __init__(self):
        self.names = {}
        self.now = None
        self.defaults = None


class Reader:
    def __init__(self, trace, data):
        self.trace = trace
        self.sequences = {}
        self.tracks = {}
        self.attributes = {}
        self.events = []  # (time, place, track, message, names)
        self.sizes = []
        self.read(data, False)

    def read(self, data, is_inner):
        trace = self.trace()
        trace.ParseFromString(data)
        for packet in trace.packet:
            if packet.HasField("compressed_packets"):
                assert not is_inner
                self.sizes.append(len(packet.compressed_packets))
                self.read(zlib.decompress(packet.compressed_packets), True)
            else:
                self.take(packet)

    def take(self, packet):
        id = packet.trusted_packet_sequence_id
        assert id
        if packet.sequence_flags & CLEARED:
            assert id not in self.sequences and packet.first_packet_on_sequence
            self.sequences[id] = Sequence()
        sequence = self.sequences[id]
        if packet.HasField("trace_packet_defaults"):
            sequence.defaults = packet.trace_packet_defaults
        for clock in packet.clock_snapshot.clocks:
            assert clock.is_incremental == (clock.clock_id != CLOCK_OF_TRACE)
            if clock.is_incremental:
                assert clock.clock_id == sequence.defaults.timestamp_clock_id
                sequence.now = clock.timestamp
            assert clock.timestamp == 0
        for field, names in packet.interned_data.ListFields():
            for name in names:
                assert name.iid and (field.name, name.iid) not in sequence.names
                sequence.names[field.name, name.iid] = name.name
        if packet.HasField("track_descriptor"):
            self.tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        for attribute in packet.trace_attributes.attribute:
            self.attributes[attribute.key] = (
                attribute.long_value if attribute.HasField("long_value")
                else attribute.string_value)
        if packet.HasField("track_event"):
            assert packet.sequence_flags == NEEDS_STATE and packet.HasField("timestamp")
            self.take_event(packet, sequence)

    def take_event(self, packet, sequence):
        event = packet.track_event
        time = packet.timestamp - (packet.timestamp >> 63 << 64)
        if packet.HasField("timestamp_clock_id"):
            assert packet.timestamp_clock_id == CLOCK_OF_TRACE
        else:
            sequence.now = time = sequence.now + time
        self.events.append({
            "time": time,
            "track": sequence.defaults.track_event_defaults.track_uuid,
            "type": event.type,
            "name": sequence.names["event_names", event.name_iid] if event.name_iid else None,
            "cat": ",".join(sequence.names["event_categories", iid]
                            for iid in event.category_iids),
            "args": {sequence.names["debug_annotation_names", arg.name_iid]: value(arg)
                     for arg in event.debug_annotations},
            "value": float(event.counter_value if event.HasField("counter_value")
                           else event.double_counter_value),
            "arrows": [{"ph": "s", "id": id} for id in event.flow_ids] +
                      [{"ph": "f", "bp": "e", "id": id} for id in event.terminating_flow_ids],
        })

    def drawn(self):
        """The events as Chrome's format has them, with slices of begins and ends."""
        stacks = collections.defaultdict(list)
        for event in sorted(self.events, key=lambda event: event["time"]):  # stable
            track = self.tracks[event["track"]]
            drawn = {"name": event["name"], "cat": event["cat"], "ts": event["time"]}
            if event["type"] == TYPE_END:
                begun = stacks[event["track"]].pop()
                begun["dur"] = event["time"] - begun["ts"]
                yield begun
                continue
            if track.HasField("thread"):
                drawn.update(pid=track.thread.pid, tid=track.thread.tid)
            for arrow in event["arrows"]:
                yield {**drawn, **arrow}
            if event["type"] == TYPE_COUNTER:
                process = self.tracks[track.parent_uuid].process
                drawn.update(ph="C", pid=process.pid, tid=0, name=track.name,
                             cat=",".join(track.counter.categories),
                             args={"value": event["value"]})
                yield drawn
                continue
            if event["args"]:
                drawn["args"] = event["args"]
            if event["type"] == TYPE_BEGIN:
                drawn["ph"] = "X"
                stacks[event["track"]].append(drawn)
            else:
                assert event["type"] == TYPE_INSTANT
                drawn["ph"] = "i"
                yield drawn
        assert not any(stacks.values())

    def names(self):
        """Names and order of processes and tracks, as Chrome's format has them."""
        for uuid, track in self.tracks.items():
            if track.HasField("process"):
                yield "process", track.process.pid, track.process.process_name
                yield "process order", track.process.pid, track.sibling_order_rank
            elif track.HasField("thread"):
                id = (track.thread.pid, track.thread.tid)
                yield "thread", id, track.thread.thread_name
                yield "thread order", id, track.sibling_order_rank
            elif uuid == 0:
                assert track.process_ordering == 1 and track.thread_ordering == 1
            else:
                assert track.HasField("counter") and track.sibling_merge_behavior == 2


def value(arg):
    kind = arg.WhichOneof("value") if arg.DESCRIPTOR.oneofs else arg.ListFields()[-1][0].name
    return hex(arg.pointer_value) if kind == "pointer_value" else getattr(arg, kind)


def ns(event, key):
    """Chrome's microseconds are decimals, which no float keeps."""
    whole, part = event[key].split(".")
    time = abs(int(whole)) * 1000 + int(part)
    return -time if whole.startswith("-") else time


def read_chrome(path):
    with open(path, encoding="utf-8") as file:
        picture = json.load(file, parse_float=str)
    names, events = [], []
    for event in picture["traceEvents"]:
        if event["ph"] == "M":
            kind = event["name"].split("_")[0]
            id = (event["pid"], event["tid"]) if kind == "thread" else event["pid"]
            names.append((kind + (" order" if "sort" in event["name"] else ""), id,
                          *event["args"].values()))
            continue
        event["ts"] = ns(event, "ts")
        if event["ph"] == "X":
            event["dur"] = ns(event, "dur")
        event.pop("s", None)
        if event["ph"] == "C":
            event["args"]["value"] = float(event["args"]["value"])
        events.append(event)
    return events, names, picture["metadata"]


def differences(ours, theirs):
    count = collections.Counter(ours)
    count.subtract(collections.Counter(theirs))
    return [(n, what) for what, n in count.items() if n]


def main():
    with open(sys.argv[1], "rb") as file:
        reader = Reader(trace_class(), file.read())
    drawn = [json.dumps(event, sort_keys=True, ensure_ascii=False) for event in reader.drawn()]
    if len(sys.argv) < 3:
        print("\n".join(drawn))
        return 0
    events, names, metadata = read_chrome(sys.argv[2])
    wanted = [json.dumps(event, sort_keys=True, ensure_ascii=False) for event in events]
    attributes = {key: str(text) for key, text in reader.attributes.items()}
    wrong = (differences(drawn, wanted) + differences(set(reader.names()), set(names)) +
             differences(attributes.items(), ((key, str(text)) for key, text in metadata.items())))
    if any(size > 512 * 1024 for size in reader.sizes):
        wrong.append((1, "a packet of packets is too large"))
    for n, what in wrong[:10]:
        print("%s %s" % ("perfetto only:" if n > 0 else "chrome only:", what))
    print("%d events" % len(drawn))
    return 1 if wrong else 0


sys.exit(main())
