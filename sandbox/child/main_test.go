package child

import (
	"os"
	"testing"
)

// wantNamespaces says that the children must have namespaces of their own.
const wantNamespaces = "CODEMODE_TEST_WANT_NAMESPACES"

// noUserNamespaces makes this process, which then runs in a user namespace of its own, refuse any further one.
const noUserNamespaces = "CODEMODE_TEST_NO_USER_NAMESPACES"

// beforeTests are run in the process that stands for the worker, not in its children.
var beforeTests []func()

func TestMain(m *testing.M) {
	Main()
	if os.Getenv(noUserNamespaces) != "" {
		if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
			panic(err)
		}
	}
	for _, prepare := range beforeTests {
		prepare()
	}
	os.Exit(m.Run())
}
