package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// flags are the worker's. Where Temporal is, the environment says.
type flags struct {
	config       string
	metricsAddr  string
	codecAddr    string
	codecOrigins string
	version      bool
	required     bool // not a flag: the configuration wants encryption
}

func parse(args []string) (flags, error) {
	var f flags
	set := flag.NewFlagSet("worker", flag.ContinueOnError)
	set.SetOutput(io.Discard) // main prints the error
	set.StringVar(&f.config, "config", "codemode.yaml", "the `file` that names the runtime and its connectors")
	set.StringVar(&f.metricsAddr, "metrics-addr", "", "serve Prometheus metrics on http://`address`/metrics")
	set.StringVar(&f.codecAddr, "codec-addr", "",
		"serve the codec endpoint that lets the Web UI show payloads on this `address`, which is of this machine "+
			"unless CODEMODE_CODEC_TOKEN has what requests must bring along")
	set.StringVar(&f.codecOrigins, "codec-origins", "http://localhost:8233,http://127.0.0.1:8233",
		"the `origins` of the Web UIs that may use the codec endpoint")
	set.BoolVar(&f.version, "version", false, "print the version and exit")
	err := set.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		set.SetOutput(os.Stdout)
		set.Usage()
		return f, err
	case err == nil && set.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	if err != nil {
		var names []string
		set.VisitAll(func(f *flag.Flag) { names = append(names, "--"+f.Name) })
		return f, fmt.Errorf("%w: the worker takes only %s", err, strings.Join(names, ", "))
	}
	return f, nil
}
