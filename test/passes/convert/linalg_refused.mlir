// RUN: tile-opt --split-input-file --verify-diagnostics %s -p convert-linalg-to-tile | filecheck %s

#whole = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
// CHECK: error: the body of linalg.generic uses what it accumulates in another way than in a sum, product, maximum or minimum
func.func @argmax(%x: tensor<4x6xf32>, %v: tensor<4xf32>, %p: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %a, %b = linalg.generic {indexing_maps = [#whole, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x6xf32>) outs(%v, %p : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%e: f32, %m: f32, %n: i32):
    %k = linalg.index 1 : index
    %j = arith.index_cast %k : index to i32
    %c = arith.cmpf ugt, %e, %m : f32
    %s = arith.select %c, %e, %m : f32
    %t = arith.select %c, %j, %n : i32
    linalg.yield %s, %t : f32, i32
  } -> (tensor<4xf32>, tensor<4xi32>)
  func.return %a, %b : tensor<4xf32>, tensor<4xi32>
}

// -----

#whole = affine_map<(i, k) -> (i, k)>
#row = affine_map<(i, k) -> (i)>
// CHECK: error: linalg.generic writes an element at several points
func.func @last(%x: tensor<4x6xf32>, %v: tensor<4xf32>) -> tensor<4xf32> {
  %a = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x6xf32>) outs(%v : tensor<4xf32>) {
  ^bb0(%e: f32, %m: f32):
    linalg.yield %e : f32
  } -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}

// -----

// CHECK: error: the index expression (d0 floordiv 2) of linalg.generic is not affine
func.func @folded(%x: tensor<4xf32>, %v: tensor<8xf32>) -> tensor<8xf32> {
  %a = linalg.generic {indexing_maps = [affine_map<(i) -> (i floordiv 2)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%v : tensor<8xf32>) {
  ^bb0(%e: f32, %m: f32):
    linalg.yield %e : f32
  } -> tensor<8xf32>
  func.return %a : tensor<8xf32>
}

// -----

// CHECK: error: math.cttz in linalg.generic gives a scalar that the tile dialect cannot compute
func.func @unknown(%x: tensor<4xi32>, %v: tensor<4xi32>) -> tensor<4xi32> {
  %a = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xi32>) outs(%v : tensor<4xi32>) {
  ^bb0(%e: i32, %m: i32):
    %q = math.cttz %e : i32
    linalg.yield %q : i32
  } -> tensor<4xi32>
  func.return %a : tensor<4xi32>
}

// -----

// CHECK: error: scf.if in linalg.generic gives a scalar that the tile dialect cannot compute
func.func @branches(%x: tensor<4xf32>, %c: i1, %v: tensor<4xf32>) -> tensor<4xf32> {
  %a = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%v : tensor<4xf32>) {
  ^bb0(%e: f32, %m: f32):
    %q = scf.if %c -> (f32) {
      scf.yield %e : f32
    } else {
      scf.yield %m : f32
    }
    linalg.yield %q : f32
  } -> tensor<4xf32>
  func.return %a : tensor<4xf32>
}

// -----

// CHECK: error: arith.addf: x: f8E4M3FN is not an element type
func.func @complex(%x: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  %a = arith.addf %x, %x : tensor<4xf8E4M3FN>
  func.return %a : tensor<4xf8E4M3FN>
}

// -----

// CHECK: error: scf.for: the step must be above 0
func.func @still(%x: tensor<3xf32>, %n: index) -> tensor<3xf32> {
  %zero = arith.constant 0 : index
  %r = scf.for %i = %zero to %n step %zero iter_args(%a = %x) -> (tensor<3xf32>) {
    %y = tile.exp %a : (tensor<3xf32>) -> tensor<3xf32>
    scf.yield %y : tensor<3xf32>
  }
  func.return %r : tensor<3xf32>
}

// -----

// CHECK: error: arith.mulsi_extended has no counterpart in the tile dialect
func.func @high(%x: tensor<4xi32>) -> tensor<4xi32> {
  %l, %h = arith.mulsi_extended %x, %x : tensor<4xi32>
  func.return %h : tensor<4xi32>
}
