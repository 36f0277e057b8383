package search

import "strings"

// stopWords are in every description and tell methods apart nowhere.
var stopWords = set(`a about all also am an and any are as at be been being by can could did do does for from had has
	have having he her his how i if in into is it its just me my no not of off on or our out over please
	she should so some such than that the their them then there these they this those to too up us via
	want was we were what when where which who will with would you your need needs`)

// chatter are words by which people ask for help, whatever they want. In a sentence they help to rank at most.
var chatter = set(`help helps helping please thank thanks hi hello hey yes okay ok sure kindly like love looking look
	interested interest curious wondering wonder know tell give gives provide provides providing share
	suggest information info detail details specific particular various able possible way ways thing
	things something anything someone somebody going planning plan trying try let lets got make makes
	sure really very well also currently current recently today now just much many more most best good
	great some exactly precise assist assistance request requesting require requires required using use
	used user users api tool tools plugin app based different new latest one two three first second next
	then finally concerned concern question questions understand want wants wish hoping hope guide step
	steps etc via whether ensure`)

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
	// What the services that tools stand for are about.
	"weather forecast temperature climate rain snow wind humidity",
	"movie film cinema",
	"show series tv television episode",
	"actor cast star actress",
	"director direct crew filmmaker",
	"song track music audio tune",
	"artist singer musician band",
	"album record",
	"playback player play listen",
	"podcast episode audio",
	"restaurant dining eat food cuisine",
	"recipe cook meal dish food ingredient",
	"diet nutrition calorie healthy",
	"hotel accommodation lodging stay room",
	"flight airline plane airport fly",
	"trip travel itinerary vacation journey tour",
	"train railway rail station",
	"car vehicle auto automobile",
	"ride taxi cab",
	"rent rental hire lease",
	"book reserve reservation booking",
	"buy purchase order shop",
	"sell sale",
	"shop store market marketplace",
	"gift present",
	"deal discount offer bargain",
	"stock share equity ticker",
	"finance financial money fund invest investment",
	"crypto cryptocurrency coin bitcoin token",
	"currency exchange forex dollar euro",
	"bank account",
	"loan mortgage credit",
	"company corporation business firm enterprise organization",
	"employee staff worker",
	"job career vacancy employment position",
	"house home property apartment estate",
	"doctor physician medical therapist clinic",
	"disease illness symptom condition health",
	"medicine drug medication",
	"exercise workout fitness gym",
	"news headline article",
	"article paper post publication",
	"paper research academic scientific scholar",
	"book novel literature",
	"author writer",
	"course class lesson learn tutorial education",
	"student pupil",
	"teacher tutor instructor",
	"quiz question survey questionnaire form poll",
	"word term vocabulary",
	"definition meaning define dictionary",
	"translate translation language convert",
	"summarize summary abstract digest",
	"grammar spelling proofread",
	"joke humor funny",
	"quote quotation saying",
	"story tale",
	"game play",
	"match game fixture",
	"sport football soccer basketball",
	"team club",
	"score result standing",
	"animal pet dog cat",
	"map location place geography",
	"location place city address where",
	"distance far route direction navigate",
	"nearby near around close",
	"coordinate latitude longitude geocode",
	"time clock hour timezone",
	"date day calendar",
	"calendar agenda schedule event",
	"meeting appointment event",
	"event concert happening",
	"reminder alarm alert",
	"todo task",
	"text string content",
	"picture image photo photograph",
	"draw paint generate illustrate",
	"chart graph plot diagram visualize",
	"diagram flowchart",
	"presentation slide powerpoint deck",
	"spreadsheet excel sheet workbook",
	"document word doc page",
	"pdf document",
	"table row column record",
	"video clip movie",
	"website site web page url",
	"page site web",
	"link url href",
	"scrape crawl extract fetch",
	"browse navigate visit open go",
	"internet web online",
	"click press tap hit",
	"type enter fill input",
	"hover mouse",
	"popup dialog alert",
	"screenshot capture picture",
	"tab page window",
	"console log error",
	"css style colour color stylesheet",
	"javascript script code",
	"code program source",
	"memory remember recall",
	"forget delete",
	"knowledge fact graph",
	"calculate compute calculator arithmetic math",
	"equation formula expression",
	"sum add total plus",
	"multiply product times",
	"average mean",
	"random dice roll",
	"convert conversion transform",
	"unit measure",
	"password passcode pin",
	"login signin authenticate auth token",
	"register signup enroll",
	"phone telephone call mobile",
	"contact person",
	"chat conversation talk message",
	"friend contact",
	"tweet post status",
	"law legal court",
	"government politic election",
	"tax income",
	"energy power electricity",
	"speed slow fast performance",
	"size large big disk space",
	"folder directory tree",
	"rename move",
	"erase wipe delete",
	"export save",
	"index lookup speed",
	"row document record entity",
	"collection table",
	"remark comment",
	"paragraph block text",
	"wiki page",
	"recent last latest new",
	"popular top trending best",
	"similar related recommend recommendation",
	"rate rating review score",
	"rank ranking leaderboard",
	"compare comparison versus difference",
	"analyze analysis insight",
	"predict forecast prediction",
	"detect detection recognize identify",
	"monitor track watch",
	"track follow trace",
	"package parcel shipment delivery",
	"ship deliver send",
	"gene genome dna",
	"protein molecule",
	"trial study clinical",
	"patient medical",
	"planet space astronomy star",
	"earthquake quake seismic",
	"art painting museum artwork",
	"fashion clothes clothing apparel outfit",
	"beauty makeup cosmetic",
	"wine beer drink cocktail",
	"tarot horoscope astrology fortune",
	"holiday vacation",
	"license permit",
	"vote poll",
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
