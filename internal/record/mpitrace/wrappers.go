package mpitrace

import (
	"fmt"
	"strings"
)

// regions are the names of the regions by their numbers in the files.
func regions() []string {
	names := []string{"PROGRAM"}
	for _, f := range functions() {
		names = append(names, "MPI_"+f.name)
	}
	return names
}

// source returns the whole text of the shim.
func source() []byte {
	var b strings.Builder
	b.WriteString("enum { PROGRAM")
	for _, name := range regions()[1:] {
		b.WriteString(", R_" + strings.TrimPrefix(name, "MPI_"))
	}
	b.WriteString(" };\n")
	b.Write(shimSource)
	b.Write(sidedSource)
	for _, f := range functions() {
		if f.later {
			b.WriteString("\n#if MPI_VERSION >= 4\n")
		}
		f.writeC(&b)
		if !f.large {
			f.writeFortran(&b)
		}
		if f.later {
			b.WriteString("#endif\n")
		}
	}
	b.WriteString(startAndEnd)
	writeAliases(&b, "init", "void *")
	writeAliases(&b, "init_thread", "void *, void *, void *")
	writeAliases(&b, "finalize", "void *")
	return []byte(b.String())
}

// body replaces the words that differ between languages.
func (f *function) body(text, lang string) string {
	words := map[string]string{"PLACE(": "MPI_IN_PLACE == (const void *)(", "BASE": "0", "REQ": "*request", "MSG": "*message", "NEW": "*newcomm", "MADE": "newcomm, NULL", "WINP": "*winp", "FILEP": "*filep", "NAMED": "name, strlen(name)", "STS(i)": "&sts[i]", "ST": "st"}
	if lang == "fortran" {
		words = map[string]string{"PLACE(": "in_place_f(", "BASE": "1", "REQ": "PMPI_Request_f2c(*(MPI_Fint *)request)", "MSG": "PMPI_Message_f2c(*(MPI_Fint *)message)",
			"NEW": "PMPI_Comm_f2c(*(MPI_Fint *)newcomm)", "MADE": "NULL, (MPI_Fint *)newcomm", "WINP": "PMPI_Win_f2c(*(MPI_Fint *)winp)", "FILEP": "PMPI_File_f2c(*(MPI_Fint *)filep)", "NAMED": "name, trimmed(name, l_name)", "STS(i)": "status_at(fsts, i, &cst)", "ST": "status_at(fst, 0, &cst)"}
	}
	if f.role == "commfree" {
		words["NEW"] = strings.ReplaceAll(words["NEW"], "newcomm", "comm")
	}
	text = strings.NewReplacer("SENT", f.sent, "GOT", f.got, "ROOT", f.root, "OP,", f.op+",").Replace(text)
	return strings.NewReplacer("PLACE(", words["PLACE("], "BASE", words["BASE"], "REQ", words["REQ"], "MSG", words["MSG"], "NEW", words["NEW"], "MADE", words["MADE"],
		"WINP", words["WINP"], "FILEP", words["FILEP"], "NAMED", words["NAMED"],
		"MPI_STATUS", "MPI_STATUS", "STS(i)", words["STS(i)"], "ST,", words["ST"]+",", "ST)", words["ST"]+")").Replace(text)
}

func (f *function) has(kind string) bool {
	for _, p := range f.params {
		if p.kind == kind {
			return true
		}
	}
	return false
}

const locals = "\tuint64_t id = 0, id2 = 0;\n\tMPI_Request h = MPI_REQUEST_NULL, *hs = NULL;\n\tMPI_Comm from = MPI_COMM_NULL;\n\t(void)id; (void)id2; (void)h; (void)hs; (void)from;\n"

func (f *function) writeC(b *strings.Builder) {
	var params, args []string
	for _, p := range f.params {
		params = append(params, kinds[p.kind].ctype+" "+p.name)
		switch p.kind {
		case "status":
			args = append(args, "st")
		case "statuses":
			args = append(args, "sts")
		default:
			args = append(args, p.name)
		}
	}
	fmt.Fprintf(b, "\nint MPI_%s(%s)\n{\n", f.name, strings.Join(params, ", "))
	b.WriteString(locals)
	fmt.Fprintf(b, "\tint on = begin(R_%s, __builtin_return_address(0));\n", f.name)
	if f.has("status") {
		b.WriteString("\tMPI_Status own, *st = on && status == MPI_STATUS_IGNORE ? &own : status;\n")
	}
	if f.has("statuses") {
		b.WriteString("\tMPI_Status *sts = on && statuses == MPI_STATUSES_IGNORE ? room(1, count * sizeof *sts) : statuses;\n")
	}
	b.WriteString("\tif (on) {\n")
	if f.has("requests") {
		b.WriteString("\t\ths = room(0, count * sizeof *hs);\n\t\tmemcpy(hs, requests, count * sizeof *hs);\n")
	}
	fmt.Fprintf(b, "\t\t%s\n\t\tgive();\n\t}\n", f.body(roles[f.role].before, "c"))
	fmt.Fprintf(b, "\tint err = PMPI_%s(%s);\n", f.name, strings.Join(args, ", "))
	fmt.Fprintf(b, "\tif (on) {\n\t\ttake();\n\t\t%s\n\t\tend(R_%s);\n\t}\n\treturn err;\n}\n", f.body(roles[f.role].after, "c"), f.name)
}

// writeFortran wraps the Fortran entry points. They go to the library's own, not
// to C: constants such as MPI_BOTTOM differ between the languages.
func (f *function) writeFortran(b *strings.Builder) {
	lower := strings.ToLower(f.name)
	var params, args, types, lengths []string
	for _, p := range f.params {
		params = append(params, "void *"+argument(p))
		types = append(types, "void *")
		if p.kind == "str" || p.kind == "strout" {
			lengths = append(lengths, "long l_"+p.name)
		}
		switch p.kind {
		case "status":
			args = append(args, "fst")
		case "statuses":
			args = append(args, "fsts")
		default:
			args = append(args, argument(p))
		}
	}
	params, types, args = append(params, "void *ierr"), append(types, "void *"), append(args, "ierr")
	for _, l := range lengths {
		params, types, args = append(params, l), append(types, "long"), append(args, strings.TrimPrefix(l, "long "))
	}
	fmt.Fprintf(b, "\nvoid mpi_%s_(%s)\n{\n", lower, strings.Join(params, ", "))
	fmt.Fprintf(b, "\tstatic void (*real)(%s);\n\tif (!real)\n\t\treal = fortran(\"pmpi_%s\");\n", strings.Join(types, ", "), lower)
	b.WriteString(locals)
	fmt.Fprintf(b, "\tint on = begin(R_%s, __builtin_return_address(0));\n", f.name)
	if f.has("status") {
		b.WriteString("\tMPI_Status cst;\n\tMPI_Fint own[sizeof(MPI_Status) / sizeof(MPI_Fint)], *fst = on && status == (void *)MPI_F_STATUS_IGNORE ? own : status;\n\t(void)cst;\n")
	}
	if f.has("statuses") {
		b.WriteString("\tMPI_Status cst;\n\tMPI_Fint *fsts = on && statuses == (void *)MPI_F_STATUSES_IGNORE ? room(1, *(MPI_Fint *)f_count * sizeof(MPI_Status)) : statuses;\n\t(void)cst;\n")
	}
	converted := f.converted()
	fmt.Fprintf(b, "\tif (on) {\n%s", converted)
	if f.has("requests") {
		b.WriteString("\t\ths = room(0, count * sizeof *hs);\n\t\tfor (int i = 0; i < count; i++)\n\t\t\ths[i] = PMPI_Request_f2c(((MPI_Fint *)requests)[i]);\n")
	}
	fmt.Fprintf(b, "\t\t%s\n\t\tgive();\n\t}\n\treal(%s);\n", f.body(roles[f.role].before, "fortran"), strings.Join(args, ", "))
	fmt.Fprintf(b, "\tif (on) {\n%s\t\ttake();\n\t\t%s\n\t\tend(R_%s);\n\t}\n}\n", converted, f.body(roles[f.role].after, "fortran"), f.name)
	writeAliases(b, lower, strings.Join(types, ", "))
}

// argument is the name of a Fortran argument; those that become locals of a C
// type leave their names to these.
func argument(p param) string {
	if kinds[p.kind].fromFortran != "" {
		return "f_" + p.name
	}
	return p.name
}

func (f *function) converted() string {
	var b strings.Builder
	for _, p := range f.params {
		if conv := kinds[p.kind].fromFortran; conv != "" {
			fmt.Fprintf(&b, "\t\t%s %s = %s;\n\t\t(void)%s;\n", kinds[p.kind].ctype, p.name, fmt.Sprintf(conv, "f_"+p.name), p.name)
		}
	}
	return b.String()
}

// writeAliases gives a wrapper the names other Fortran compilers use, and the
// one that Open MPI's modern module calls.
func writeAliases(b *strings.Builder, lower, types string) {
	for _, alias := range []string{"mpi_" + lower, "mpi_" + lower + "__", "MPI_" + strings.ToUpper(lower), "ompi_" + lower + "_f"} {
		fmt.Fprintf(b, "void %s(%s) __attribute__((alias(\"mpi_%s_\")));\n", alias, types, lower)
	}
}

const startAndEnd = `
int MPI_Init(int *argc, char ***argv)
{
	int err = PMPI_Init(argc, argv);
	if (err == MPI_SUCCESS && depth == 0)
		start();
	return err;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int err = PMPI_Init_thread(argc, argv, required, provided);
	if (err == MPI_SUCCESS && depth == 0)
		start();
	return err;
}

int MPI_Finalize(void)
{
	stop();
	return PMPI_Finalize();
}

void mpi_init_(void *ierr)
{
	void (*real)(void *) = fortran("pmpi_init");
	depth++;
	real(ierr);
	depth--;
	if (*(MPI_Fint *)ierr == MPI_SUCCESS)
		start();
}

void mpi_init_thread_(void *required, void *provided, void *ierr)
{
	void (*real)(void *, void *, void *) = fortran("pmpi_init_thread");
	depth++;
	real(required, provided, ierr);
	depth--;
	if (*(MPI_Fint *)ierr == MPI_SUCCESS)
		start();
}

void mpi_finalize_(void *ierr)
{
	void (*real)(void *) = fortran("pmpi_finalize");
	stop();
	real(ierr);
}
`
