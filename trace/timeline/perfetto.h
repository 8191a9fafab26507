/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfetto - what is used of Perfetto's messages: the numbers of their fields, and values.
 *
 * From protos/perfetto/trace/ of Perfetto's source. A field keeps its number for ever.
 */
#ifndef KVMTOP_TRACE_TIMELINE_PERFETTO_H
#define KVMTOP_TRACE_TIMELINE_PERFETTO_H

/* TracePacket */
enum {
	PACKET_CLOCKS = 6,
	PACKET_TIME = 8, /* timestamp */
	PACKET_SEQUENCE = 10, /* trusted_packet_sequence_id */
	PACKET_EVENT = 11, /* track_event */
	PACKET_NAMES = 12, /* interned_data */
	PACKET_FLAGS = 13, /* sequence_flags */
	PACKET_CLOCK = 58, /* timestamp_clock_id */
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60, /* track_descriptor */
	PACKET_IS_FIRST = 87, /* first_packet_on_sequence */
	PACKET_ATTRIBUTES = 126,
};

/* SEQ_INCREMENTAL_STATE_CLEARED, SEQ_NEEDS_INCREMENTAL_STATE */
enum { FLAG_BEGINS = 1, FLAG_NEEDS_NAMES = 2 };

/* ClockSnapshot, and a Clock; clocks up to 63 are of the whole trace, from 64 on of a sequence */
enum { CLOCKS_CLOCK = 1 };
enum { CLOCK_ID = 1, CLOCK_TIME = 2, CLOCK_IS_DIFFERENCE = 3 };
enum { CLOCK_OF_TRACE = 6, CLOCK_OF_SEQUENCE = 64 };

/* TracePacketDefaults */
enum { DEFAULTS_EVENT = 11, DEFAULTS_CLOCK = 58 };

/* TrackDescriptor, and what a track may be */
enum {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	TRACK_RANK = 12, /* sibling_order_rank */
	TRACK_MERGES = 15, /* sibling_merge_behavior: with tracks of the same name */
	TRACK_PROCESSES = 19, /* process_ordering, of the track 0 alone, as the next */
	TRACK_THREADS = 20,
};
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { COUNTER_CATEGORY = 2 };
enum { MERGES_NEVER = 2 };
enum { ORDER_BY_RANK = 1 };

/* TrackEvent */
enum {
	EVENT_CATEGORY = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_TRACK = 11,
	EVENT_INTEGER = 30, /* a counter's value, as the next */
	EVENT_DOUBLE = 44,
	EVENT_FLOW = 47, /* of 64 bits, as the next: terminating_flow_ids */
	EVENT_FLOW_END = 48,
};
enum event_type { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };

/* DebugAnnotation */
enum {
	ANNOTATION_NAME = 1,
	ANNOTATION_INTEGER = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_TEXT = 6,
	ANNOTATION_POINTER = 7,
};

/* InternedData: fields for three kinds of names; and a name */
enum name_kind { NAME_OF_CATEGORY = 1, NAME_OF_EVENT, NAME_OF_ARG, NR_NAME_KINDS };
enum { NAME_NUMBER = 1, NAME_TEXT = 2 };

/* TraceAttributes, and an Attribute */
enum { ATTRIBUTES_ATTRIBUTE = 1 };
enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_INTEGER = 2, ATTRIBUTE_TEXT = 3 };

#endif
