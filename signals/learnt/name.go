package learnt

import (
	"strings"
	"unicode"
)

const (
	// longestName is in bytes.
	longestName = 40
	// mostDigits of a name: sha256, iso3166.
	mostDigits = 4
	// longestPart is more letters than a word has.
	longestPart = 20
	// mostConsonants in a row are more than words have.
	mostConsonants = 6
	// shortestRandom is where letters in mixed case are looked at: random ones change it all the time.
	shortestRandom = 12
	leastPart      = 2.8
)

// IsName tells the keys that developers choose from those that are data: ids, addresses, paths, dates, words of people,
// secrets. A key that is a single plain word counts as a name.
func IsName(key string) bool {
	key = strings.TrimPrefix(key, "@")
	key = strings.TrimLeft(key, "$_#")
	if key == "" || len(key) > longestName || !isLetter(key[0]) {
		return false
	}
	digits := 0
	for i := range len(key) {
		switch c := key[i]; {
		case c >= '0' && c <= '9':
			digits++
		case !isLetter(c) && c != '_' && c != '-':
			return false
		}
	}
	return digits <= mostDigits && readable(key)
}

// readable tells words from random letters.
func readable(key string) bool {
	parts, letters := 0, 0
	for _, word := range strings.FieldsFunc(key, func(r rune) bool { return !unicode.IsLetter(r) }) {
		n := len(word)
		oneCase := strings.ToLower(word) == word || strings.ToUpper(word) == word
		if n > longestPart && oneCase || consonants(word) > mostConsonants {
			return false
		}
		letters += n
		parts += changes(word)
	}
	mixed := len(key) >= shortestRandom && float64(letters) < leastPart*float64(parts)
	return !mixed && !isHex(key)
}

// changes counts the words of a camelCase name.
func changes(word string) int {
	n := 1
	for i := 1; i < len(word); i++ {
		if isUpper(word[i]) && !isUpper(word[i-1]) {
			n++
		}
	}
	return n
}

// consonants is the longest run of letters without a vowel. A capital begins another word, unless all are capitals.
func consonants(word string) (longest int) {
	if strings.ToUpper(word) == word {
		word = strings.ToLower(word)
	}
	run := 0
	for i := range len(word) {
		switch {
		case strings.IndexByte("aeiouyAEIOUY", word[i]) >= 0:
			run = 0
			continue
		case isUpper(word[i]):
			run = 0
		}
		if run++; run > longest {
			longest = run
		}
	}
	return longest
}

// isHex tells digests and their beginnings, which have digits among letters up to f.
func isHex(key string) bool {
	digit := false
	for i := range len(key) {
		c := key[i] | 0x20
		if digit = digit || c >= '0' && c <= '9'; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return digit && len(key) >= 6
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
