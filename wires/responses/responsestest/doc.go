// Package responsestest judges what a Responses stream says: the order, numbering
// and agreement of its frames that official clients rely on. It is for tests, of
// this tree and of those who embed it.
package responsestest
