// Package openapitest holds what a handler really answered against what its
// operation says: with schemas that are closed, so that a field that was added
// to an object and not to its description is a fault too. It is for tests.
package openapitest
