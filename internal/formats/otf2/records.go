package otf2

// Kind is the id of an event record.
type Kind uint8

// The event records that the message-passing model uses by name. Every other
// record is decoded by the table below all the same.
const (
	BufferFlush         Kind = 10
	Enter               Kind = 12
	Leave               Kind = 13
	MPISend             Kind = 14
	MPIIsend            Kind = 15
	MPIIsendComplete    Kind = 16
	MPIIrecvRequest     Kind = 17
	MPIRecv             Kind = 18
	MPIIrecv            Kind = 19
	MPIRequestTest      Kind = 20
	MPIRequestCancelled Kind = 21
	MPICollectiveBegin  Kind = 22
	MPICollectiveEnd    Kind = 23
	Metric              Kind = 31
	CallingEnter        Kind = 66
	CallingLeave        Kind = 67
	ProgramBegin        Kind = 83
	NBCRequest          Kind = 85
	NBCComplete         Kind = 86
)

// Ids of records that occur in every chunked file.
const (
	endOfChunk    = 0
	endOfBuffer   = 1
	endOfFile     = 2
	chunkHead     = 3
	timestamp     = 5
	attributeList = 6
)

// Undefined is a 64-bit reference or number the writer left out.
const Undefined = ^uint64(0)

// Undefined32 is a 32-bit reference or number the writer left out; the roots
// below it are special values of collectives.
const (
	Undefined32   = uint64(^uint32(0))
	RootNone      = Undefined32
	RootSelf      = Undefined32 - 1
	RootThisGroup = Undefined32 - 2
)

// encoding says how one field lies in the file.
type encoding uint8

const (
	u8      encoding = iota // one byte
	c32                     // size byte and up to 4 bytes
	c64                     // size byte and up to 8 bytes
	i64                     // as c64, two's complement
	full64                  // 8 bytes
	str                     // bytes up to and including NUL
	av                      // attribute value, by the type byte before it
	list32                  // c32 count, then that many c32
	list64                  // c32 count, then that many c64
	short32                 // u8 count, then that many c32
	values                  // u8 count, then that many (u8 type, c64 bits)
	props                   // u8 count, then that many (u8 property, u8 type, attribute value)
)

// Kinds of local mapping tables.
const (
	mapString = iota
	mapAttribute
	mapLocation
	mapRegion
	mapGroup
	mapMetric
	mapComm
	mapParameter
	mapWin
	mapSource
	mapContext
	mapInterrupt
	mapFile
	mapHandle
	mapLocationGroup
	mapKinds

	unmapped = -1
)

// field is one field of a record: its encoding and the mapping table its value
// goes through.
type field struct {
	enc     encoding
	mapping int8
}

func plain(e encoding) field           { return field{e, unmapped} }
func ref(e encoding, table int8) field { return field{e, table} }

// record describes an event record. Ten old ids carry no length; every other
// record, known or not, can be skipped by it.
type record struct {
	name   string
	noLen  bool
	fields []field
}

// maxFields is the largest number of scalar fields of an event record.
const maxFields = 6

// Fields used by many records.
var (
	fU8, fC32, fC64    = plain(u8), plain(c32), plain(c64)
	fI64, fFull        = plain(i64), plain(full64)
	fRegion, fComm     = ref(c32, mapRegion), ref(c32, mapComm)
	fWin, fHandle      = ref(c32, mapWin), ref(c32, mapHandle)
	fParam, fContext   = ref(c32, mapParameter), ref(c32, mapContext)
	lockFields         = []field{fC32, fC32}
	taskFields         = []field{fComm, fC32, fC32}
	threadFields       = []field{fComm, fC64}
	messageFields      = []field{fC32, fComm, fC32, fC64}
	asyncMessageFields = []field{fC32, fComm, fC32, fC64, fC64}
	winLockFields      = []field{fWin, fC32, fC64, fU8}
	winMatchFields     = []field{fWin, fC64}
	ioMatchFields      = []field{fHandle, fC64}
	ioLockFields       = []field{fHandle, fU8}
)

// eventRecords is the layout of every event of OTF2 1.0 to 3.1. There is no
// published specification; the order of fields is that of the OTF2 library and
// the equality test against otf2-print holds it.
var eventRecords = [256]record{
	10: {"BUFFER_FLUSH", false, []field{fFull}},
	11: {"MEASUREMENT_ON_OFF", false, []field{fU8}},
	12: {"ENTER", true, []field{fRegion}},
	13: {"LEAVE", true, []field{fRegion}},
	14: {"MPI_SEND", false, messageFields},
	15: {"MPI_ISEND", false, asyncMessageFields},
	16: {"MPI_ISEND_COMPLETE", true, []field{fC64}},
	17: {"MPI_IRECV_REQUEST", true, []field{fC64}},
	18: {"MPI_RECV", false, messageFields},
	19: {"MPI_IRECV", false, asyncMessageFields},
	20: {"MPI_REQUEST_TEST", true, []field{fC64}},
	21: {"MPI_REQUEST_CANCELLED", true, []field{fC64}},
	22: {"MPI_COLLECTIVE_BEGIN", false, nil},
	23: {"MPI_COLLECTIVE_END", false, []field{fU8, fComm, fC32, fC64, fC64}},
	24: {"OMP_FORK", true, []field{fC32}},
	25: {"OMP_JOIN", false, nil},
	26: {"OMP_ACQUIRE_LOCK", false, lockFields},
	27: {"OMP_RELEASE_LOCK", false, lockFields},
	28: {"OMP_TASK_CREATE", true, []field{fC64}},
	29: {"OMP_TASK_SWITCH", true, []field{fC64}},
	30: {"OMP_TASK_COMPLETE", true, []field{fC64}},
	31: {"METRIC", false, []field{ref(c32, mapMetric), plain(values)}},
	32: {"PARAMETER_STRING", false, []field{fParam, ref(c32, mapString)}},
	33: {"PARAMETER_INT64", false, []field{fParam, fI64}},
	34: {"PARAMETER_UINT64", false, []field{fParam, fC64}},
	35: {"RMA_WIN_CREATE", false, []field{fWin}},
	36: {"RMA_WIN_DESTROY", false, []field{fWin}},
	37: {"RMA_COLLECTIVE_BEGIN", false, nil},
	38: {"RMA_COLLECTIVE_END", false, []field{fU8, fC32, fWin, fC32, fC64, fC64}},
	39: {"RMA_GROUP_SYNC", false, []field{fC32, fWin, ref(c32, mapGroup)}},
	40: {"RMA_REQUEST_LOCK", false, winLockFields},
	41: {"RMA_ACQUIRE_LOCK", false, winLockFields},
	42: {"RMA_TRY_LOCK", false, winLockFields},
	43: {"RMA_RELEASE_LOCK", false, []field{fWin, fC32, fC64}},
	44: {"RMA_SYNC", false, []field{fWin, fC32, fU8}},
	45: {"RMA_WAIT_CHANGE", false, []field{fWin}},
	46: {"RMA_PUT", false, []field{fWin, fC32, fC64, fC64}},
	47: {"RMA_GET", false, []field{fWin, fC32, fC64, fC64}},
	48: {"RMA_ATOMIC", false, []field{fWin, fC32, fU8, fC64, fC64, fC64}},
	49: {"RMA_OP_COMPLETE_BLOCKING", false, winMatchFields},
	50: {"RMA_OP_COMPLETE_NON_BLOCKING", false, winMatchFields},
	51: {"RMA_OP_TEST", false, winMatchFields},
	52: {"RMA_OP_COMPLETE_REMOTE", false, winMatchFields},
	53: {"THREAD_FORK", false, []field{fU8, fC32}},
	54: {"THREAD_JOIN", false, []field{fU8}},
	55: {"THREAD_TEAM_BEGIN", false, []field{fComm}},
	56: {"THREAD_TEAM_END", false, []field{fComm}},
	57: {"THREAD_ACQUIRE_LOCK", false, []field{fU8, fC32, fC32}},
	58: {"THREAD_RELEASE_LOCK", false, []field{fU8, fC32, fC32}},
	59: {"THREAD_TASK_CREATE", false, taskFields},
	60: {"THREAD_TASK_SWITCH", false, taskFields},
	61: {"THREAD_TASK_COMPLETE", false, taskFields},
	62: {"THREAD_CREATE", false, threadFields},
	63: {"THREAD_BEGIN", false, threadFields},
	64: {"THREAD_WAIT", false, threadFields},
	65: {"THREAD_END", false, threadFields},
	66: {"CALLING_CONTEXT_ENTER", false, []field{fContext, fC32}},
	67: {"CALLING_CONTEXT_LEAVE", false, []field{fContext}},
	68: {"CALLING_CONTEXT_SAMPLE", false, []field{fContext, fC32, ref(c32, mapInterrupt)}},
	69: {"IO_CREATE_HANDLE", false, []field{fHandle, fU8, fC32, fC32}},
	70: {"IO_DESTROY_HANDLE", false, []field{fHandle}},
	71: {"IO_DUPLICATE_HANDLE", false, []field{fHandle, fHandle, fC32}},
	72: {"IO_SEEK", false, []field{fHandle, fI64, fU8, fC64}},
	73: {"IO_CHANGE_FLAGS", false, []field{fHandle, fC32}},
	74: {"IO_DELETE_FILE", false, []field{fU8, ref(c32, mapFile)}},
	75: {"IO_OPERATION_BEGIN", false, []field{fHandle, fU8, fC32, fC64, fC64}},
	76: {"IO_OPERATION_TEST", false, ioMatchFields},
	77: {"IO_OPERATION_ISSUED", false, ioMatchFields},
	78: {"IO_OPERATION_COMPLETE", false, []field{fHandle, fC64, fC64}},
	79: {"IO_OPERATION_CANCELLED", false, ioMatchFields},
	80: {"IO_ACQUIRE_LOCK", false, ioLockFields},
	81: {"IO_RELEASE_LOCK", false, ioLockFields},
	82: {"IO_TRY_LOCK", false, ioLockFields},
	83: {"PROGRAM_BEGIN", false, []field{ref(c32, mapString), ref(list32, mapString)}},
	84: {"PROGRAM_END", false, []field{fI64}},
	85: {"NON_BLOCKING_COLLECTIVE_REQUEST", false, []field{fC64}},
	86: {"NON_BLOCKING_COLLECTIVE_COMPLETE", false, []field{fU8, fComm, fC32, fC64, fC64, fC64}},
	87: {"COMM_CREATE", false, []field{fComm}},
	88: {"COMM_DESTROY", false, []field{fComm}},
}

// String returns the name otf2-print uses.
func (k Kind) String() string {
	if name := eventRecords[k].name; name != "" {
		return name
	}
	return "UNKNOWN"
}

// attributeEncoding gives the encoding and the mapping table of an attribute
// value by its type; types above 25 are read as c64.
var attributeEncoding = [26]field{
	0: fC64, 1: fU8, 5: fU8,
	2: {u16enc, unmapped}, 6: {u16enc, unmapped},
	3: fC32, 7: fC32, 4: fC64, 8: fI64,
	9: {f32enc, unmapped}, 10: fFull,
	11: ref(c32, mapString), 12: ref(c32, mapAttribute), 13: ref(c64, mapLocation),
	14: fRegion, 15: ref(c32, mapGroup), 16: ref(c32, mapMetric), 17: fComm,
	18: fParam, 19: fWin, 20: ref(c32, mapSource), 21: fContext,
	22: ref(c32, mapInterrupt), 23: ref(c32, mapFile), 24: fHandle,
	25: ref(c32, mapLocationGroup),
}

// Encodings that occur in attribute values only.
const (
	u16enc encoding = 100 + iota
	f32enc
)

// DefKind is the id of a global definition record.
type DefKind uint8

// The definitions the reader turns into typed tables.
const (
	defClock          DefKind = 5
	defString         DefKind = 10
	defAttribute      DefKind = 11
	defSystemNode     DefKind = 12
	defLocationGroup  DefKind = 13
	defLocation       DefKind = 14
	defRegion         DefKind = 15
	defGroup          DefKind = 18
	defMetricMember   DefKind = 19
	defMetricClass    DefKind = 20
	defMetricInstance DefKind = 21
	defComm           DefKind = 22
	defSourceLocation DefKind = 33
	defContext        DefKind = 34
	defInterComm      DefKind = 43
)

// definition is the layout of a global definition. Fields from index newer on
// were added by later versions and exist only where the length leaves room.
type definition struct {
	name   string
	newer  int
	fields []field
}

func fieldsOf(encs ...encoding) []field {
	fs := make([]field, len(encs))
	for i, e := range encs {
		fs[i] = plain(e)
	}
	return fs
}

// definitions is the layout of every global definition record.
var definitions = [256]definition{
	5:  {"CLOCK_PROPERTIES", 3, fieldsOf(c64, c64, c64, c64)},
	6:  {"PARADIGM", 3, fieldsOf(u8, c32, u8)},
	7:  {"PARADIGM_PROPERTY", 4, fieldsOf(u8, u8, u8, av)},
	8:  {"IO_PARADIGM", 6, fieldsOf(u8, c32, c32, u8, c32, props)},
	10: {"STRING", 2, fieldsOf(c32, str)},
	11: {"ATTRIBUTE", 3, fieldsOf(c32, c32, u8, c32)},
	12: {"SYSTEM_TREE_NODE", 4, fieldsOf(c32, c32, c32, c32)},
	13: {"LOCATION_GROUP", 4, fieldsOf(c32, c32, u8, c32, c32)},
	14: {"LOCATION", 5, fieldsOf(c64, c32, u8, c64, c32)},
	15: {"REGION", 7, fieldsOf(c32, c32, c32, u8, c32, c32, c32, c32, u8, u8, c32)},
	16: {"CALLSITE", 5, fieldsOf(c32, c32, c32, c32, c32)},
	17: {"CALLPATH", 3, fieldsOf(c32, c32, c32)},
	18: {"GROUP", 4, fieldsOf(c32, c32, u8, list64, u8, u8, c32)},
	19: {"METRIC_MEMBER", 9, fieldsOf(c32, c32, c32, u8, u8, u8, u8, i64, c32)},
	20: {"METRIC_CLASS", 3, fieldsOf(c32, short32, u8, u8)},
	21: {"METRIC_INSTANCE", 5, fieldsOf(c32, c32, c64, u8, c64)},
	22: {"COMM", 4, fieldsOf(c32, c32, c32, c32, c32)},
	23: {"PARAMETER", 3, fieldsOf(c32, c32, u8)},
	24: {"RMA_WIN", 3, fieldsOf(c32, c32, c32, c32)},
	25: {"METRIC_CLASS_RECORDER", 2, fieldsOf(c32, c64)},
	26: {"SYSTEM_TREE_NODE_PROPERTY", 3, fieldsOf(c32, c32, c32, u8, av)},
	27: {"SYSTEM_TREE_NODE_DOMAIN", 2, fieldsOf(c32, u8)},
	28: {"LOCATION_GROUP_PROPERTY", 3, fieldsOf(c32, c32, c32, u8, av)},
	29: {"LOCATION_PROPERTY", 3, fieldsOf(c64, c32, c32, u8, av)},
	30: {"CART_DIMENSION", 4, fieldsOf(c32, c32, c32, u8)},
	31: {"CART_TOPOLOGY", 4, fieldsOf(c32, c32, c32, short32)},
	32: {"CART_COORDINATE", 3, fieldsOf(c32, c32, short32)},
	33: {"SOURCE_CODE_LOCATION", 3, fieldsOf(c32, c32, c32)},
	34: {"CALLING_CONTEXT", 4, fieldsOf(c32, c32, c32, c32)},
	35: {"CALLING_CONTEXT_PROPERTY", 4, fieldsOf(c32, c32, u8, av)},
	36: {"INTERRUPT_GENERATOR", 6, fieldsOf(c32, c32, u8, u8, i64, c64)},
	37: {"IO_FILE_PROPERTY", 4, fieldsOf(c32, c32, u8, av)},
	38: {"IO_REGULAR_FILE", 3, fieldsOf(c32, c32, c32)},
	39: {"IO_DIRECTORY", 3, fieldsOf(c32, c32, c32)},
	40: {"IO_HANDLE", 7, fieldsOf(c32, c32, c32, u8, c32, c32, c32)},
	41: {"IO_PRE_CREATED_HANDLE_STATE", 3, fieldsOf(c32, u8, c32)},
	42: {"CALLPATH_PARAMETER", 4, fieldsOf(c32, c32, u8, av)},
	43: {"INTER_COMM", 6, fieldsOf(c32, c32, c32, c32, c32, c32)},
}

// String returns the name otf2-print uses.
func (k DefKind) String() string {
	if name := definitions[k].name; name != "" {
		return name
	}
	return "UNKNOWN"
}
