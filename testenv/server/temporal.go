package server

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
	sqliteschema "go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
	"google.golang.org/protobuf/types/known/durationpb"
)

const (
	clusterName = "active"
	retention   = 30 * 24 * time.Hour
	pollRPS     = 5000

	namespaceRefresh = 500 * time.Millisecond
)

// searchAttributes are those of the wire contract; a worker without the right to register its own finds them here.
var searchAttributes = map[string]enumspb.IndexedValueType{
	"CodemodeRuntime": enumspb.INDEXED_VALUE_TYPE_KEYWORD,
	"CodemodeStatus":  enumspb.INDEXED_VALUE_TYPE_KEYWORD,
}

const ackInterval = 250 * time.Millisecond

// dynamicConfig differs from the server's defaults where those are meant for clusters: the poll rates are per shard
// and there is one shard here, so the default of 20 would allow one sequential workflow task every 50 ms.
func configOf(maxUpdates int) dynamicconfig.StaticClient {
	if maxUpdates == 0 {
		return dynamicConfig
	}
	config := maps.Clone(dynamicConfig)
	config[dynamicconfig.WorkflowExecutionMaxTotalUpdates.Key()] = maxUpdates
	return config
}

var dynamicConfig = dynamicconfig.StaticClient{
	dynamicconfig.TransferProcessorMaxPollRPS.Key():                  pollRPS,
	dynamicconfig.TimerProcessorMaxPollRPS.Key():                     pollRPS,
	dynamicconfig.VisibilityProcessorMaxPollRPS.Key():                pollRPS,
	dynamicconfig.NamespaceCacheRefreshInterval.Key():                namespaceRefresh,
	dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key(): 1000,
	dynamicconfig.EnableEagerWorkflowStart.Key():                     true,
	dynamicconfig.FrontendEnableUpdateWorkflowExecution.Key():        true,
	// A closed workflow can be deleted once its queues have acknowledged the end, by default within 30 s.
	dynamicconfig.TransferProcessorUpdateAckInterval.Key():   ackInterval,
	dynamicconfig.VisibilityProcessorUpdateAckInterval.Key(): ackInterval,
	// The default of 128,000 workflows bounds nothing on a laptop.
	dynamicconfig.HistoryCacheHostLevelMaxSize.Key(): 8192,
}

func newTemporal(p settings) (temporal.Server, error) {
	s, err := prepareStores(p)
	if err != nil {
		return nil, err
	}
	hosts := make(map[primitives.ServiceName]static.Hosts, len(services))
	for _, name := range services {
		hosts[name] = static.SingleLocalHost(p.hostPort(name))
	}
	backend, err := temporal.NewServer(
		temporal.WithConfig(serverConfig(p, s)),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(hosts),
		temporal.WithDynamicConfigClient(configOf(p.maxUpdates)),
		temporal.WithLogger(log.NewZapLogger(log.BuildZapLogger(log.Config{Level: p.logLevel, Format: "console"}))),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper {
			return authorization.NewNoopClaimMapper()
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("configure the Temporal server: %w", err)
	}
	return backend, nil
}

func serverConfig(p settings, s stores) *config.Config {
	var c config.Config
	c.Global.Membership.BroadcastAddress = p.host
	c.Persistence = config.Persistence{
		DefaultStore:     "main",
		VisibilityStore:  "visibility",
		NumHistoryShards: 1,
		DataStores:       map[string]config.DataStore{"main": {SQL: s.main}, "visibility": {SQL: s.visibility}},
	}
	c.ClusterMetadata = &cluster.Config{
		FailoverVersionIncrement: 10,
		MasterClusterName:        clusterName,
		CurrentClusterName:       clusterName,
		ClusterInformation: map[string]cluster.ClusterInformation{clusterName: {
			Enabled:                true,
			InitialFailoverVersion: 1,
			RPCAddress:             p.address(),
			ClusterID:              uuid.NewString(),
		}},
	}
	c.DCRedirectionPolicy.Policy = "noop"
	c.Services = make(map[string]config.Service, len(services))
	for _, name := range services {
		c.Services[string(name)] = config.Service{RPC: config.RPC{GRPCPort: p.ports[name], BindOnIP: p.host}}
	}
	c.Archival.History.State = config.ArchivalDisabled
	c.Archival.Visibility.State = config.ArchivalDisabled
	c.NamespaceDefaults.Archival.History.State = config.ArchivalDisabled
	c.NamespaceDefaults.Archival.Visibility.State = config.ArchivalDisabled
	c.PublicClient.HostPort = p.address()
	return &c
}

// stores are where the server keeps its state.
type stores struct{ main, visibility *config.SQL }

// prepareStores makes the schema and the namespace. Both are there before the server starts, so that it need not be
// told of the namespace through its API and then be waited for.
func prepareStores(p settings) (stores, error) {
	namespace, err := sqliteschema.NewNamespaceConfig(clusterName, p.namespace, false, searchAttributes)
	if err != nil {
		return stores{}, fmt.Errorf("describe namespace %q: %w", p.namespace, err)
	}
	namespace.Detail.Config.Retention = durationpb.New(retention)
	s, created, err := openStores(p.db)
	if err != nil {
		return stores{}, err
	}
	if err := sqliteschema.CreateNamespaces(s.main, namespace); err != nil {
		return stores{}, fmt.Errorf("create namespace %q in %s: %w", p.namespace, storeName(p), err)
	}
	if created {
		err = dropIndexes(s.visibility, namespace.Detail.Config.CustomSearchAttributeAliases)
	}
	return s, err
}

// openStores opens a file for all, or memory, and tells whether the tables were made for it.
func openStores(path string) (s stores, created bool, err error) {
	if path != "" {
		s.main = &config.SQL{PluginName: sqlite.PluginName}
		created, err = openFile(s.main, path)
		s.visibility = s.main
		return s, created, err
	}
	name := "codemode-" + uuid.NewString()
	s = stores{inMemory(name), inMemory(name + "-visibility")}
	return s, true, openInMemory(s.visibility)
}

func openFile(store *config.SQL, path string) (created bool, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return false, fmt.Errorf("database %s: %w", path, err)
	}
	store.DatabaseName = path
	// A write-ahead log survives a killed process and spares every transaction a flush to the disk.
	store.ConnectAttributes = map[string]string{"mode": "rwc", "journal_mode": "wal", "synchronous": "normal"}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		created, err = true, sqliteschema.SetupSchema(store)
	}
	if err != nil {
		return false, fmt.Errorf("database %s: %w", path, err)
	}
	return created, nil
}

func storeName(p settings) string {
	if p.db == "" {
		return "memory"
	}
	return p.db
}
