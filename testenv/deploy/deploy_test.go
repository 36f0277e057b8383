package deploy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/temporal-codemode/codemode/worker/config"
)

const root = "../.."

// kinds are the types of Kubernetes that our manifests use.
var kinds = map[string]func() any{
	"apps/v1 Deployment":                     func() any { return &appsv1.Deployment{} },
	"autoscaling/v2 HorizontalPodAutoscaler": func() any { return &autoscalingv2.HorizontalPodAutoscaler{} },
	"policy/v1 PodDisruptionBudget":          func() any { return &policyv1.PodDisruptionBudget{} },
	"v1 Service":                             func() any { return &corev1.Service{} },
}

// manifests are the documents of our files, each as its type, which knows every field.
func manifests(t *testing.T) (all []any) {
	t.Helper()
	files, err := filepath.Glob(root + "/deploy/kubernetes/*.yaml")
	require.NoError(t, err)
	for _, file := range files {
		if name := filepath.Base(file); name == "kustomization.yaml" || name == "codemode.yaml" {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for documents := yaml.NewDecoder(bytes.NewReader(text)); ; {
			var document map[string]any
			if err := documents.Decode(&document); errors.Is(err, io.EOF) {
				break
			} else {
				require.NoError(t, err, file)
			}
			kind := document["apiVersion"].(string) + " " + document["kind"].(string)
			require.Contains(t, kinds, kind)
			asJSON, err := json.Marshal(document)
			require.NoError(t, err)
			typed := kinds[kind]()
			strict := json.NewDecoder(bytes.NewReader(asJSON))
			strict.DisallowUnknownFields()
			require.NoError(t, strict.Decode(typed), "%s: %s", file, kind)
			all = append(all, typed)
		}
	}
	return all
}

// TestManifestsAreHardened: whatever is deployed has no rights, a bounded memory and probes, and is selected by what
// means to.
func TestManifestsAreHardened(t *testing.T) {
	var selectors []map[string]string
	deployed := map[string]map[string]string{}
	for _, m := range manifests(t) {
		switch m := m.(type) {
		case *appsv1.Deployment:
			require.Equal(t, m.Spec.Selector.MatchLabels, m.Spec.Template.Labels)
			deployed[m.Name] = m.Spec.Template.Labels
			pod := m.Spec.Template.Spec
			require.False(t, *pod.AutomountServiceAccountToken)
			require.True(t, *pod.SecurityContext.RunAsNonRoot)
			for _, c := range pod.Containers {
				require.True(t, *c.SecurityContext.ReadOnlyRootFilesystem)
				require.False(t, *c.SecurityContext.AllowPrivilegeEscalation)
				require.Equal(t, []corev1.Capability{"ALL"}, c.SecurityContext.Capabilities.Drop)
				require.False(t, c.Resources.Limits.Memory().IsZero())
				require.NotNil(t, c.ReadinessProbe)
				require.NotNil(t, c.StartupProbe)
			}
		case *corev1.Service:
			selectors = append(selectors, m.Spec.Selector)
		case *policyv1.PodDisruptionBudget:
			selectors = append(selectors, m.Spec.Selector.MatchLabels)
		case *autoscalingv2.HorizontalPodAutoscaler:
			require.Contains(t, deployed, m.Spec.ScaleTargetRef.Name)
		}
	}
	for _, s := range selectors {
		require.Contains(t, values(deployed), s)
	}
	require.Len(t, deployed, 3)
}

func values(m map[string]map[string]string) (all []map[string]string) {
	for _, v := range m {
		all = append(all, v)
	}
	return all
}

// TestArgumentsOfManifests: the commands know the flags that they are deployed with.
func TestArgumentsOfManifests(t *testing.T) {
	bin := t.TempDir()
	for name, path := range map[string]string{"worker": "./worker", "codemode": "./starter"} {
		build := exec.Command("go", "build", "-o", filepath.Join(bin, name), path)
		build.Dir = root
		out, err := build.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	flags := func(c corev1.Container) (known, used []string) {
		command := append([]string{"/worker"}, c.Command...)
		if len(c.Command) > 0 {
			command = c.Command
		}
		help := exec.Command(filepath.Join(bin, filepath.Base(command[0])), append(command[1:], "--help")...)
		text, _ := help.CombinedOutput()
		known = regexp.MustCompile(`(?m)^ +--?([a-z-]+)`).FindAllString(string(text), -1)
		for i, k := range known {
			known[i] = strings.TrimLeft(k, " -")
		}
		for _, a := range c.Args {
			if name, ok := strings.CutPrefix(a, "--"); ok {
				name, _, _ = strings.Cut(name, "=")
				used = append(used, name)
			}
		}
		return known, used
	}
	for _, m := range manifests(t) {
		if d, ok := m.(*appsv1.Deployment); ok {
			known, used := flags(d.Spec.Template.Spec.Containers[0])
			require.NotEmpty(t, used)
			require.Subset(t, known, used, d.Name)
		}
	}
}

func TestConfigurationOfManifests(t *testing.T) {
	_, err := config.Load(root + "/deploy/kubernetes/codemode.yaml")
	require.NoError(t, err)
}

var metricName = regexp.MustCompile(`\bcodemode_[a-z_]+`)

// TestDashboardsAskForMetricsThatThereAre: those of the operators' page, whose names a test of the worker holds.
func TestDashboardsAskForMetricsThatThereAre(t *testing.T) {
	page, err := os.ReadFile(root + "/docs/operators.md")
	require.NoError(t, err)
	known := metricName.FindAllString(string(page), -1)
	for _, file := range []string{"prometheus/alerts.yaml", "grafana/codemode.json"} {
		text, err := os.ReadFile(root + "/deploy/" + file)
		require.NoError(t, err)
		asked := metricName.FindAllString(string(text), -1)
		require.NotEmpty(t, asked)
		for _, name := range asked {
			name = strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_count")
			require.Contains(t, known, name, file)
		}
	}
	var dashboard struct{ Panels []struct{ Title string } }
	text, _ := os.ReadFile(root + "/deploy/grafana/codemode.json")
	require.NoError(t, json.Unmarshal(text, &dashboard))
	require.Len(t, dashboard.Panels, 10)
}

func TestUnitIsUnderstood(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("no systemd-analyze here")
	}
	text, err := os.ReadFile(root + "/deploy/systemd/codemode-worker.service")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "codemode-worker.service")
	text = bytes.ReplaceAll(text, []byte("/usr/local/bin/codemode-worker"), []byte("/bin/true"))
	require.NoError(t, os.WriteFile(file, text, 0o600))
	out, err := exec.Command("systemd-analyze", "verify", "--man=no", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotContains(t, string(out), "Unknown", "%s", out)
}

// TestReleasesAreReproducible: the same source gives the same bytes, wherever it lies.
func TestReleasesAreReproducible(t *testing.T) {
	if testing.Short() {
		t.Skip("builds four binaries")
	}
	release := func(source string) string {
		dir := t.TempDir()
		run := exec.Command("go", "run", "./deploy/release", dir, "linux/amd64")
		run.Dir, run.Env = source, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
		out, err := run.CombinedOutput()
		require.NoError(t, err, "%s", out)
		check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
		check.Dir = dir
		out, err = check.CombinedOutput()
		require.NoError(t, err, "%s", out)
		sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
		require.NoError(t, err)
		return string(sums)
	}
	elsewhere := t.TempDir()
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	for _, e := range entries {
		switch from := filepath.Join(root, e.Name()); {
		case e.Name() == "testenv" || strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			require.NoError(t, os.CopyFS(filepath.Join(elsewhere, e.Name()), os.DirFS(from)))
		default:
			text, err := os.ReadFile(from)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(elsewhere, e.Name()), text, 0o600))
		}
	}
	sums := release(root)
	require.Equal(t, sums, release(elsewhere))
	require.Len(t, strings.Fields(sums), 8, "two binaries and their bills of materials")
}
