// Package budget decides about budgets: what a turn may still use, which budget is
// used up, and what a principal and a day have used. It holds no clock and no
// store; amounts and days come in as values. The supervisor owns the only Ledger,
// a session asks about its own budgets, a turn about what it was given.
//
// A budget is checked where usage is told: while a turn runs when its CLI tells it
// meanwhile, else at the turn's end and before the next start. Turns that run side
// by side do not see one another's usage before it is told, so a budget of a
// principal or a day can be passed by what they use together.
package budget
