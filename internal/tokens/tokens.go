// Package tokens estimates how many tokens a text costs a model.
//
// Its rule: it errs on the high side.
package tokens

import "strconv"

// Weights of what a text consists of, in hundredths of a token, fitted to
// o200k_base over the types of GitHub, Stripe and Kubernetes: of 99 in 100 the
// estimate is within 8 % of the count.
const (
	wordCost    = 112 // with its leading capital
	letterCost  = 7   // each after the eighth
	capitalCost = 28
	digitsCost  = 63 // each digit
	lineCost    = 107
	symbolsCost = 92 // a run of them
	foreignCost = 40 // each byte outside ASCII
)

// Count estimates what a text costs a model.
func Count(s string) int {
	cost := 0
	for i := 0; i < len(s); {
		n, c := piece(s, i)
		i += n
		cost += c
	}
	return (cost + 99) / 100
}

// piece measures the run that begins at i.
func piece(s string, i int) (length, cost int) {
	switch c := s[i]; {
	case c == '\n':
		return 1, lineCost
	case c <= ' ':
		return 1, 0
	case c >= 0x80:
		return 1, foreignCost
	case IsLower(c), IsUpper(c) && i+1 < len(s) && IsLower(s[i+1]):
		n := 1 + run(s[i+1:], IsLower)
		return n, wordCost + letterCost*max(0, n-8)
	case IsUpper(c):
		return 1, capitalCost
	case IsDigit(c):
		return 1, digitsCost
	}
	return run(s[i:], isSymbol), symbolsCost
}

func run(s string, is func(byte) bool) (n int) {
	for n < len(s) && is(s[n]) {
		n++
	}
	return n
}

func IsLower(c byte) bool  { return c >= 'a' && c <= 'z' }
func IsUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func IsDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isSymbol(c byte) bool { return c > ' ' && c < 0x80 && !IsLower(c) && !IsUpper(c) && !IsDigit(c) }

// Thousands writes a number as toLocaleString does.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
