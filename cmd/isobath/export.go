package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"isobath/internal/dataset"
	"isobath/internal/profile"
	"isobath/internal/table"
)

func newExport() *cobra.Command {
	var (
		imports importFlags
		out     string
		where   string
		value   string
	)
	cmd := &cobra.Command{
		Use:   "export FILE -o out.{csv,parquet,arrow,folded,pb.gz}",
		Short: "Write the samples for other tools",
		Example: `  isobath export run.isobath -o slow.parquet --where 'latency > 200'
  isobath export run.isobath -o stacks.folded --value latency
  isobath export run.isobath -o - | head`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			write, err := exporter(out, profile.Value(value))
			if err != nil {
				return err
			}
			s, err := imports.open(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer s.Close()
			e, err := selection(s, where)
			if err != nil {
				return err
			}
			var rows table.Bits
			if e != nil {
				if rows, err = s.Engine.Select(cmd.Context(), e); err != nil {
					return err
				}
			}
			if out == "-" {
				return write(cmd.OutOrStdout(), s, rows)
			}
			return writeWhole(out, func(w io.Writer) error { return write(w, s, rows) })
		},
	}
	imports.add(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "the `file` to write; its ending says the format; - is CSV to standard output")
	cmd.Flags().StringVar(&where, "where", "", "only samples that match this `selection`")
	cmd.Flags().StringVar(&value, "value", string(profile.Samples), "what folded stacks count: samples or latency")
	return cmd
}

type writer func(io.Writer, *dataset.Set, table.Bits) error

// exporter chooses the format by the ending of the file.
func exporter(out string, value profile.Value) (writer, error) {
	if value != profile.Samples && value != profile.Latency {
		return nil, usagef("--value %q: want samples or latency", value)
	}
	if strings.HasSuffix(strings.ToLower(out), ".pb.gz") {
		return writePprof, nil
	}
	switch strings.ToLower(filepath.Ext(out)) {
	case ".csv":
		return writeCSV, nil
	case ".parquet":
		return func(w io.Writer, s *dataset.Set, rows table.Bits) error { return s.Table.WriteParquet(w, rows) }, nil
	case ".arrow", ".feather":
		return writeArrow, nil
	case ".folded":
		return func(w io.Writer, s *dataset.Set, rows table.Bits) error { return writeFolded(w, s, rows, value) }, nil
	}
	switch out {
	case "-":
		return writeCSV, nil
	case "":
		return nil, usagef("export needs -o FILE; its ending says the format: csv, parquet, arrow, folded or pb.gz")
	}
	return nil, usagef("-o %s: unknown ending; want .csv, .parquet, .arrow, .folded or .pb.gz", out)
}

func writeCSV(w io.Writer, s *dataset.Set, rows table.Bits) error { return s.Table.WriteCSV(w, rows) }

func writeArrow(w io.Writer, s *dataset.Set, rows table.Bits) error {
	t := s.Table
	if rows != nil {
		index := make([]int, 0, rows.Count())
		for i := range rows.All() {
			index = append(index, i)
		}
		t = t.Take(index)
	}
	return t.WriteArrow(w)
}

func writeFolded(w io.Writer, s *dataset.Set, rows table.Bits, value profile.Value) error {
	stacks, err := profile.Stacks(s.Table, rows)
	if err != nil {
		return err
	}
	return profile.WriteFolded(w, stacks, value)
}

func writePprof(w io.Writer, s *dataset.Set, rows table.Bits) error {
	stacks, err := profile.Stacks(s.Table, rows)
	if err != nil {
		return err
	}
	unit := "cycles"
	if c := s.Table.Column("latency"); c != nil && c.Unit != "" {
		unit = c.Unit
	}
	return profile.WritePprof(w, stacks, unit)
}

// writeWhole writes a file beside its name and renames it, so that a name never
// has half a file.
func writeWhole(name string, write func(io.Writer) error) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*.tmp")
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	err = write(tmp)
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("export %s: %w", name, err), os.Remove(tmp.Name()))
	}
	return nil
}
