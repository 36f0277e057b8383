package compile_test

import (
	"fmt"

	"github.com/temporal-codemode/codemode/sandbox/compile"
)

func ExampleNormalizeCode() {
	fmt.Println(compile.NormalizeCode("```js\nconst a = 1;\na + 1\n```"))
	// Output:
	// async () => {
	// const a = 1;
	// return (a + 1)
	// }
}
