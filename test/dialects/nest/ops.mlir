// RUN: tile-opt %s | filecheck %s
// RUN: tile-opt %s | tile-opt | filecheck %s
// RUN: tile-opt %s --print-op-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: func.func @nest
func.func @nest(%A: memref<64x8xf32, 1 : i32>, %n: index) {
  // CHECK:      %tile = nest.buffer copies 2 : memref<4x8xf32, strided<[9, 1]>, 3 : i32>
  // GENERIC:    "nest.buffer"() <{copies = 2 : i64}> : () -> memref<4x8xf32, strided<[9, 1]>, 3 : i32>
  %tile = nest.buffer copies 2 : memref<4x8xf32, strided<[9, 1]>, 3 : i32>
  // CHECK-NEXT: %acc = nest.buffer {note} : memref<f32, 5 : i32>
  %acc = nest.buffer {note} : memref<f32, 5 : i32>
  // CHECK-NEXT: %one = arith.constant
  %one = arith.constant 1.0 : f32
  // CHECK-NEXT: nest.for %g : group.y to 8 {
  // GENERIC:    "nest.for"() <{bounds = #nest.exprs<0, 8, 1>, role = #nest.role<group.y>}> ({
  nest.for %g : group.y to 8 {
    // CHECK-NEXT: nest.for %i : local.x to 8 {
    nest.for %i : local.x to 8 {
      // CHECK-NEXT: nest.for %k = %i to %n step 2*%g + 1 : serial {
      nest.for %k = %i to %n step 2*%g + 1 : serial {
        // CHECK-NEXT: nest.for %u : unroll to 4 {
        nest.for %u : unroll to 4 {
          // CHECK-NEXT: nest.for %v : vector to 2 {
          nest.for %v : vector to 2 {
            // CHECK: %a = nest.load %A[8*%g + %u, ((%i + %v) mod 8)] if 0 <= %k and %k < 8 else %one : memref<64x8xf32, 1 : i32>
            // GENERIC: "nest.load"(%A, %g, %u, %i, %v, %k, %one) <{access = #nest.exprs<8*d0 + d1, ((d2 + d3) mod 8)>, condition = #nest.condition<"0 <= d4 and d4 < 8">
            %a = nest.load %A[8*%g + %u, (%i + %v) mod 8] if 0 <= %k and %k < 8 else %one : memref<64x8xf32, 1 : i32>
            // GENERIC-NEXT: "nest.store"(%a, %tile, %u, %i, %v, %k)
            // CHECK-NEXT: nest.store %a, %tile[%u, %i] if {{.*}} : f32, memref<4x8xf32, strided<[9, 1]>, 3 : i32>
            nest.store %a, %tile[%u, %i] if %v < 1 or not %k == 3 : f32, memref<4x8xf32, strided<[9, 1]>, 3 : i32>
          }
        }
        // CHECK: %w = nest.load %A[%g, 4*(%i floordiv 4)] : memref<64x8xf32, 1 : i32>, vector<4xf32>
        %w = nest.load %A[%g, 4*(%i floordiv 4)] : memref<64x8xf32, 1 : i32>, vector<4xf32>
        // CHECK-NEXT: nest.store %w, %A[min(%g, %k), 0] : vector<4xf32>, memref<64x8xf32, 1 : i32>
        nest.store %w, %A[min(%g, %k), 0] : vector<4xf32>, memref<64x8xf32, 1 : i32>
        // CHECK-NEXT: nest.for %e : serial to 2 {
        // CHECK-NEXT: }
        nest.for %e : serial to 2 {
        }
        // CHECK-NEXT: nest.if %k == 0 {
        // CHECK-NEXT: }
        nest.if %k == 0 {
        }
        // CHECK-NEXT: nest.if %i < %k {
        // GENERIC: "nest.if"(%i, %k) <{condition = #nest.condition<"d0 < d1">}> ({
        nest.if %i < %k {
          // CHECK-NEXT: %p = nest.index 8*%g + %i
          // GENERIC-NEXT: %p = "nest.index"(%g, %i) <{expr = #nest.exprs<8*d0 + d1>}> : (index, index) -> index
          %p = nest.index 8*%g + %i
        // CHECK-NEXT: } else {
        } else {
          // CHECK-NEXT: %q = nest.index max(%i, 3)
          %q = nest.index max(%i, 3)
        // CHECK-NEXT: }
        }
        // CHECK-NEXT: nest.store %one, %acc[] : f32, memref<f32, 5 : i32>
        nest.store %one, %acc[] : f32, memref<f32, 5 : i32>
      }
    }
  }
  func.return
}

// CHECK-LABEL: func.func @instruction
func.func @instruction(%c: f32, %a: f32, %b: f32) {
  // CHECK-NEXT: %e, %{{.*}} = nest.instruction mma_m16n8k8_tf32(%c, %c, %c, %c)(%a, %a, %a, %a, %b, %b)
  // GENERIC: "nest.instruction"(%c, %c, %c, %c, %a, %a, %a, %a, %b, %b)
  %e:4 = nest.instruction mma_m16n8k8_tf32(%c, %c, %c, %c)(%a, %a, %a, %a, %b, %b)
  func.return
}

// CHECK-LABEL: func.func @copies
func.func @copies(%A: memref<64xf32, 1 : i32>, %i: index, %j: index, %b: i1) {
  // CHECK-NEXT: %tile = nest.buffer async copies 3 : memref<16x8xf32, 3 : i32>
  // GENERIC:    "nest.buffer"() <{copies = 3 : i64, asynchronous}> : () -> memref<16x8xf32, 3 : i32>
  %tile = nest.buffer async copies 3 : memref<16x8xf32, 3 : i32>
  // CHECK-NEXT: %flat = nest.buffer async {note} : memref<32xf32, 3 : i32>
  %flat = nest.buffer async {note} : memref<32xf32, 3 : i32>
  // CHECK-NEXT: nest.copy 4 %A[%i] to %flat[%j] : memref<64xf32, 1 : i32>, memref<32xf32, 3 : i32>
  // GENERIC:    "nest.copy"(%A, %i, %flat, %j) <{lanes = 4 : i64}>
  nest.copy 4 %A[%i] to %flat[%j] : memref<64xf32, 1 : i32>, memref<32xf32, 3 : i32>
  // CHECK-NEXT: nest.copy 2 %A[%i] to %flat[%j] if %b {note} : memref<64xf32, 1 : i32>, memref<32xf32, 3 : i32>
  // GENERIC:    "nest.copy"(%A, %i, %flat, %j, %b) <{lanes = 2 : i64}>
  nest.copy 2 %A[%i] to %flat[%j] if %b {note} : memref<64xf32, 1 : i32>, memref<32xf32, 3 : i32>
  // CHECK-NEXT: nest.commit
  // GENERIC-NEXT: "nest.commit"() : () -> ()
  nest.commit
  // CHECK-NEXT: nest.wait 2
  // GENERIC:    "nest.wait"() <{groups = 2 : i64}>
  nest.wait 2
  // CHECK-NEXT: {{.*}} = nest.fragment mma_m16n8k8_tf32 operand 0 along k %tile[%i, 4*%j] : memref<16x8xf32, 3 : i32>
  // GENERIC:    "nest.fragment"(%tile, %i, %j) <{instruction = "mma_m16n8k8_tf32", operand = 0 : i64, axis = "k", access = #nest.exprs<d0, 4*d1>}> : {{.*}} -> (f32, f32, f32, f32)
  %f:4 = nest.fragment mma_m16n8k8_tf32 operand 0 along k %tile[%i, 4*%j] : memref<16x8xf32, 3 : i32>
  func.return
}

// CHECK-LABEL: func.func @prefetch
func.func @prefetch(%A: memref<64x8xf32, 1 : i32>, %i: index) {
  // CHECK-NEXT: nest.prefetch %A[%i + 1, 4] : memref<64x8xf32, 1 : i32>
  // GENERIC:    "nest.prefetch"(%A, %i) <{access = #nest.exprs<d0 + 1, 4>}>
  nest.prefetch %A[%i + 1, 4] : memref<64x8xf32, 1 : i32>
  // CHECK-NEXT: nest.prefetch to_write %A[%i, 0] {note} : memref<64x8xf32, 1 : i32>
  // GENERIC:    "nest.prefetch"(%A, %i) <{access = #nest.exprs<d0, 0>, to_write}>
  nest.prefetch to_write %A[%i, 0] {note} : memref<64x8xf32, 1 : i32>
  func.return
}

// CHECK-LABEL: func.func @shuffle
func.func @shuffle(%x: f32) {
  // CHECK-NEXT: {{.*}} = nest.shuffle %x xor 4 in 32 : f32
  // GENERIC:    "nest.shuffle"(%x) <{mask = 4 : i64, size = 32 : i64}> : (f32) -> f32
  %y = nest.shuffle %x xor 4 in 32 : f32
  func.return
}

// CHECK-LABEL: func.func @upstream_prefetch
func.func @upstream_prefetch(%A: memref<4x4xf32>, %i: index) {
  // CHECK-NEXT: memref.prefetch %A[%i, %i], read, locality<3>, data : memref<4x4xf32>
  // GENERIC:    "memref.prefetch"(%A, %i, %i) <{isWrite = false, localityHint = 3 : i32, isDataCache = true}>
  memref.prefetch %A[%i, %i], read, locality<3>, data : memref<4x4xf32>
  // CHECK-NEXT: memref.prefetch %A[%i, %i], write, locality<0>, instr {note} : memref<4x4xf32>
  memref.prefetch %A[%i, %i], write, locality<0>, instr {note} : memref<4x4xf32>
  func.return
}

// CHECK-LABEL: func.func @lanes
func.func @lanes(%a: vector<4xf32>, %b: vector<4xf32>) {
  // CHECK-NEXT: %mask = arith.cmpf oeq, %a, %b : vector<4xf32>
  // GENERIC:    "arith.cmpf"(%a, %b) <{predicate = 1 : i64, fastmath = #arith.fastmath<none>}> : (vector<4xf32>, vector<4xf32>) -> vector<4xi1>
  %mask = arith.cmpf oeq, %a, %b : vector<4xf32>
  // CHECK-NEXT: %chosen = arith.select %mask, %a, %b : vector<4xi1>, vector<4xf32>
  // GENERIC:    "arith.select"(%mask, %a, %b) : (vector<4xi1>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
  %chosen = arith.select %mask, %a, %b : vector<4xi1>, vector<4xf32>
  // CHECK-NEXT: %cut = arith.fptosi %a {note} : vector<4xf32> to vector<4xi32>
  %cut = arith.fptosi %a {note} : vector<4xf32> to vector<4xi32>
  // Numbers have xDSL's own ops.
  // CHECK-NEXT: %first = arith.constant true
  // CHECK-NEXT: %same = arith.select %first, %a, %b : vector<4xf32>
  %first = arith.constant true
  %same = arith.select %first, %a, %b : vector<4xf32>
  func.return
}

// CHECK-LABEL: "gpu.module"() <{sym_name = "calls"}>
"gpu.module"() <{sym_name = "calls"}> ({
  "gpu.func"() <{function_type = (memref<8xf32>, memref<8xf32>) -> ()}> ({
  ^bb0(%A: memref<8xf32>, %B: memref<8xf32>):
    // CHECK:      nest.call @first(%A, %B) : memref<8xf32>, memref<8xf32>
    // GENERIC:    "nest.call"(%A, %B) <{callee = @first}> : (memref<8xf32>, memref<8xf32>) -> ()
    nest.call @first(%A, %B) : memref<8xf32>, memref<8xf32>
    "gpu.return"() : () -> ()
  }) {sym_name = "all", gpu.known_block_size = array<i32: 4, 1, 1>, gpu.known_grid_size = array<i32: 3, 1, 1>} : () -> ()
  "gpu.func"() <{function_type = (memref<8xf32>, memref<8xf32>) -> ()}> ({
  ^bb0(%A: memref<8xf32>, %B: memref<8xf32>):
    "gpu.return"() : () -> ()
  }) {sym_name = "first", gpu.known_block_size = array<i32: 2, 1, 1>, gpu.known_grid_size = array<i32: 3, 2, 1>} : () -> ()
}) : () -> ()
