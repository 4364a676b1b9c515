// RUN: tile-opt %s --verify-diagnostics --parsing-diagnostics --split-input-file | filecheck %s

// CHECK: there is no attribute `tile.pats`
"gpu.func"() <{function_type = (memref<4xf32>) -> (), sym_name = "copy"}> ({
^bb0(%a : memref<4xf32>):
  "gpu.return"() : () -> ()
}) {tile.pats = array<i32: 0>} : () -> ()

// -----

// CHECK: `tile.parts` must be an array of i32, got array<i64: 0>
"gpu.func"() <{function_type = (memref<4xf32>) -> (), sym_name = "copy"}> ({
^bb0(%a : memref<4xf32>):
  "gpu.return"() : () -> ()
}) {tile.parts = array<i64: 0>} : () -> ()

// -----

// CHECK: the attribute `nest.whole` belongs to gpu.func, not to func.func
func.func @f() attributes {nest.whole} {
  func.return
}

// -----

// CHECK: `tile.name` must be a string, got 1 : i64
func.func @f(%a : tensor<4xf32> {tile.name = 1}) -> tensor<4xf32> {
  func.return %a : tensor<4xf32>
}

// -----

// CHECK: the attribute `tile.dims` belongs to argument, not to result
func.func @f(%a : tensor<4xf32>) -> (tensor<4xf32> {tile.dims = ["N"]}) {
  func.return %a : tensor<4xf32>
}

// -----

// CHECK: `tile.precision` must be "f32" or "tf32" or "exact", got "half"
module attributes {tile.precision = "half"} {
}

// -----

// CHECK: `tile.hints` must be a dictionary of arrays of strings, got
func.func @f(%a : tensor<4xf32>) -> tensor<4xf32> {
  %b = tile.neg %a {tile.hints = {tune = "fast"}} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %b : tensor<4xf32>
}

// -----

// CHECK: `nontemporal` must be a unit attribute, got "yes"
func.func @f(%a : memref<4xf32, 1>, %x : f32) {
  nest.store %x, %a[0] {nontemporal = "yes"} : f32, memref<4xf32, 1>
  func.return
}

// -----

// Another dialect's attribute by the same name is not the dialects'.
// CHECK: "test.op"() {double = 4.000000e+00 : f32} : () -> ()
"test.op"() {double = 4.0 : f32} : () -> ()

// -----

// CHECK: `tile.dims` of argument 1 has 2 names for 1 axes
func.func @f(%a : tensor<4xf32> {tile.dims = ["N"]}, %b : tensor<4xf32> {tile.dims = ["N", "M"]}) -> tensor<4xf32> {
  func.return %a : tensor<4xf32>
}
