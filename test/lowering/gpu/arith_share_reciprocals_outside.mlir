// RUN: tile-opt %s -p arith-share-reciprocals | filecheck %s

// What a loop divides by has a reciprocal that long vectors outside it have, too, as those at the ends of rows, though
// the divisor is computed for each. Short ones are divided as they are, and so is what no loop divides by.
// CHECK-COUNT-1: math.sqrt
// CHECK-NOT:     math.sqrt
// CHECK:         %reciprocal = arith.divf {{.*}}, %divisor : f32
// CHECK-NOT:     arith.divf
// CHECK:         vector.store %head, %X
// CHECK:         scf.for
// CHECK-NOT:       arith.divf
// CHECK:           vector.store %inside, %X
// CHECK:         }
// CHECK:         %short = arith.divf
// CHECK:         %other = arith.divf
// CHECK-NOT:     arith.divf
// Other functions stay as they are.
// CHECK:         math.exp
// CHECK-NEXT:    math.exp
"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (memref<256xf32, 1 : i32>, f32, f32) -> (), kernel}> ({
  ^bb0(%X: memref<256xf32, 1 : i32>, %s: f32, %t: f32):
    %zero = arith.constant 0 : index
    %step = arith.constant 16 : index
    %end = arith.constant 256 : index
    %h = vector.load %X[%zero] : memref<256xf32, 1 : i32>, vector<16xf32>
    %root = math.sqrt %s : f32
    %b = vector.broadcast %root : f32 to vector<16xf32>
    %head = arith.divf %h, %b : vector<16xf32>
    vector.store %head, %X[%zero] : memref<256xf32, 1 : i32>, vector<16xf32>
    scf.for %i = %zero to %end step %step {
      %again = math.sqrt %s : f32
      %x = vector.load %X[%i] : memref<256xf32, 1 : i32>, vector<16xf32>
      %c = vector.broadcast %again : f32 to vector<16xf32>
      %inside = arith.divf %x, %c : vector<16xf32>
      vector.store %inside, %X[%i] : memref<256xf32, 1 : i32>, vector<16xf32>
    }
    %y = vector.load %X[%zero] : memref<256xf32, 1 : i32>, vector<8xf32>
    %d = vector.broadcast %root : f32 to vector<8xf32>
    %short = arith.divf %y, %d : vector<8xf32>
    vector.store %short, %X[%zero] : memref<256xf32, 1 : i32>, vector<8xf32>
    %e = vector.broadcast %t : f32 to vector<16xf32>
    %other = arith.divf %h, %e : vector<16xf32>
    vector.store %other, %X[%zero] : memref<256xf32, 1 : i32>, vector<16xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "f"} : () -> ()
  "gpu.func"() <{function_type = (memref<256xf32, 1 : i32>, f32) -> (), kernel}> ({
  ^bb0(%X: memref<256xf32, 1 : i32>, %s: f32):
    %zero = arith.constant 0 : index
    %one = math.exp %s : f32
    %two = math.exp %s : f32
    %sum = arith.addf %one, %two : f32
    memref.store %sum, %X[%zero] : memref<256xf32, 1 : i32>
    "gpu.return"() : () -> ()
  }) {sym_name = "g"} : () -> ()
}) : () -> ()
