package search

import "strings"

// stopWords are in every description and tell methods apart nowhere.
var stopWords = set(`a about all also am an and any are as at be been being by can could did do does for from had has have
	having he her his how i if in into is it its just me my no not of off on or our out over please she should so some such than that the
	their them then there these they this those to too up us via want was we were what when where which who will with
	would you your need needs`)

// selfWords are stop words for which APIs have other ones.
var selfWords = set("i me mine my myself")

// synonymGroups are words that people use for each other when they look for a
// method. A word may be in several groups.
var synonymGroups = []string{
	"create add new make insert register open post generate provision",
	"delete remove destroy drop erase unlink purge clear",
	"get retrieve fetch read show view describe look lookup load check see display",
	"list enumerate browse get index",
	"search find query lookup filter list",
	"update edit modify change patch set alter adjust replace put",
	"send post publish deliver submit",
	"start run trigger launch execute dispatch begin invoke",
	"stop cancel abort terminate halt end kill",
	"enable activate allow",
	"disable deactivate suspend turn-off",
	"download export fetch get archive",
	"upload import attach",
	"member user people person collaborator",
	"user account",
	"customer client buyer",
	"repository repo project",
	"organization org company",
	"configuration config setting preference option",
	"environment env",
	"application app integration",
	"database db",
	"authentication auth login",
	"permission access right role",
	"message msg",
	"image picture photo",
	"document doc file",
	"file content",
	"directory folder dir",
	"price cost amount",
	"payment charge pay",
	"team group",
	"comment reply note",
	"label tag",
	"webhook hook callback",
	"secret credential key token",
	"notification alert notify",
	"email mail",
	"job task run",
	"merge combine join",
	"issue ticket bug",
	"copy duplicate clone fork",
	"move transfer migrate",
	"approve accept confirm",
	"reject decline deny refuse dismiss",
	"instance server machine vm host",
	"kubernetes k8s",
	"subscription subscribe plan",
	"invite invitation add",
	"i me my mine myself authenticated current self own whoami",
	"unassign remove",
	"kick ban remove block",
	"rename name title",
	"history log event audit",
	"statistics stats metric analytics traffic count number total",
	"pipeline workflow action",
	"release version",
	"block ban",
	"lock freeze",
	"restore recover undelete revert undo",
	"close finish complete resolve",
	"verify validate check confirm test",
	"cancel void",
	"balance fund money",
	"coupon discount promotion",
	"product item good",
	"schedule cron timer",
	"milestone deadline",
	"gist snippet",
	"reaction emoji",
	"dispute chargeback",
	"payout transfer withdraw",
	"bill invoice",
	"tax vat",
	"report summary",
	"star favorite bookmark like",
	"follow watch subscribe",
	"vulnerability advisory security",
	"license licence",
	"ip address",
	"pod container",
	"log output",
}

// phrases are short forms of several words.
var phrases = map[string]string{
	"pr": "pull request", "prs": "pull request", "ci": "action workflow", "mr": "merge request",
	"2fa": "two factor authentication",
}

// Verbs do not tell what a method is about.
var Verbs = stems(`create add new make insert register post delete remove destroy drop get retrieve fetch read show view
	describe lookup load list search find query update edit modify change patch set put replace send publish submit
	start run trigger execute stop cancel enable disable download upload import export check is has do head options
	count batch bulk all by`)

var synonyms = synonymsOf(synonymGroups)

func set(text string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(text) {
		m[w] = true
	}
	return m
}

func stems(text string) map[string]bool {
	m := map[string]bool{}
	for w := range set(text) {
		m[Stem(w)] = true
	}
	return m
}

// synonymsOf maps each stem to those it may be exchanged for.
func synonymsOf(groups []string) map[string][]string {
	m := map[string][]string{}
	for _, group := range groups {
		list := strings.Fields(group)
		for _, a := range list {
			for _, b := range list {
				if Stem(a) != Stem(b) {
					m[Stem(a)] = append(m[Stem(a)], Stem(b))
				}
			}
		}
	}
	return m
}
