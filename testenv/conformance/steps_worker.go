package conformance

import "context"

// The steps that talk to the worker process itself.

func (s *run) askWorker(ctx context.Context, r request) (any, error) {
	if err := s.needWorker(); err != nil {
		return nil, err
	}
	return s.worker.ask(ctx, r)
}

func (s *run) state(ctx context.Context, _ step) (any, error) {
	return s.askWorker(ctx, request{Do: "state"})
}

func (s *run) received(ctx context.Context, st step) (any, error) {
	return s.askWorker(ctx, request{Do: "calls", Connector: get[string](st.arg)})
}

func (s *run) methodNames(ctx context.Context, st step) (any, error) {
	return s.askWorker(ctx, request{Do: "methods", Connector: get[string](st.arg)})
}

func (s *run) set(ctx context.Context, st step) (any, error) {
	hooks := get[struct{ ThrowHooks bool }](st.arg).ThrowHooks
	_, err := s.askWorker(ctx, request{Do: "set", Hooks: &hooks})
	return absent{}, err
}

// restart kills the worker and starts another one that runs the same.
func (s *run) restart(ctx context.Context, st step) (any, error) {
	if err := s.alarm(); err != nil {
		return absent{}, err
	}
	s.stop()
	s.config = nil
	return absent{}, s.prepare(ctx, st.options.decode())
}
