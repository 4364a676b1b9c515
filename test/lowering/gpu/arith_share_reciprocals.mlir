// RUN: tile-opt %s -p arith-share-reciprocals | filecheck %s

// What a loop divides by a scalar from outside, or made of such, is multiplied by its reciprocal, and
// corrected; other divisions stay: of scalars, of other types, by vectors, by what is made in the loop.
// CHECK:      %s = memref.load
// CHECK:      %root = math.sqrt %s
// CHECK:      math.absf %root : f32
// CHECK:      %reciprocal = arith.divf {{.*}}, %divisor : f32
// CHECK:      scf.for
// CHECK-NOT:    arith.divf
// CHECK:        %first = arith.select
// CHECK:        vector.store %first
// CHECK-COUNT-4: arith.divf
// CHECK-NOT:    arith.divf
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<64xf32, 1 : i32>, f64) -> (), kernel}> ({
  ^bb0(%X: memref<64xf32, 1 : i32>, %d: f64):
    %zero = arith.constant 0 : index
    %step = arith.constant 8 : index
    %end = arith.constant 64 : index
    %s = memref.load %X[%zero] : memref<64xf32, 1 : i32>
    scf.for %i = %zero to %end step %step {
      %root = math.sqrt %s : f32
      %x = vector.load %X[%i] : memref<64xf32, 1 : i32>, vector<8xf32>
      %b = vector.broadcast %root : f32 to vector<8xf32>
      %first = arith.divf %x, %b : vector<8xf32>
      vector.store %first, %X[%i] : memref<64xf32, 1 : i32>, vector<8xf32>
      %y = memref.load %X[%i] : memref<64xf32, 1 : i32>
      %z = arith.divf %y, %s : f32
      memref.store %z, %X[%i] : memref<64xf32, 1 : i32>
      %inside = vector.broadcast %z : f32 to vector<8xf32>
      %second = arith.divf %x, %inside : vector<8xf32>
      vector.store %second, %X[%i] : memref<64xf32, 1 : i32>, vector<8xf32>
      %third = arith.divf %x, %second : vector<8xf32>
      vector.store %third, %X[%i] : memref<64xf32, 1 : i32>, vector<8xf32>
      %wide = arith.extf %x : vector<8xf32> to vector<8xf64>
      %e = vector.broadcast %d : f64 to vector<8xf64>
      %fourth = arith.divf %wide, %e : vector<8xf64>
      %narrow = arith.truncf %fourth : vector<8xf64> to vector<8xf32>
      vector.store %narrow, %X[%i] : memref<64xf32, 1 : i32>, vector<8xf32>
    }
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
}) : () -> ()
