// Package child runs passes in child processes: the program's own binary, started again with every right taken away.
// What starts it calls [Main] first.
//
// Its rule: a child may have been taken over by its program. What it says of a call counts only as far as the worker
// knows it anyway.
package child
