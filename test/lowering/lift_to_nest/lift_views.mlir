// RUN: tile-opt %s -t lift-views | filecheck %s
// RUN: xdsl-opt %s -t 'lift-views{function=pairs local-size=8}' | filecheck %s --check-prefix PAIRS
// RUN: not tile-opt %s -t 'lift-views{function=nothing}' 2>&1 | filecheck %s --check-prefix NONE

// NONE: there are no views, as the program has no patterns of lift

// What reads, what writes: patterns and views go down from memory, indices up to the flat one.
// CHECK:      <svg
// CHECK:      pairs_0_sums: xs is read</text>
// CHECK:      program</text>
// CHECK:      indices</text>
// CHECK:      components</text>
// CHECK:      class="input"
// CHECK-NEXT: xs[-lx + 7]</text>
// CHECK:      xs</text>
// CHECK:      memory</text>
// CHECK:      changed
// CHECK-NEXT: [-lx + 7]</text>
// CHECK:      gather(i -&gt; -i + 7)</text>
// CHECK:      reorder(i -&gt; -i + 7)</text>
// CHECK:      [lx]</text>
// CHECK:      zip</text>
// CHECK:      map_lcl(0)</text>
// CHECK:      access lx</text>
// CHECK:      get(0)</text>
// CHECK:      pairs_0_sums: ys is read</text>
// CHECK:      one_of_two_0_r: one of two is read</text>
// CHECK:      where 1 &lt;= lx</text>
// CHECK:      pad_constant(1, 0)</text>
// CHECK:      one_of_two_0_r: xs is read</text>
// CHECK-NOT:  components

// PAIRS:     pairs_0_sums: r is written</text>
// PAIRS:     scatter(i -&gt; -i + 7)</text>
// PAIRS:     map_lcl(0)</text>
// PAIRS-NOT: one_of_two
func.func @pairs(%xs: tensor<8xf32>, %ys: tensor<8xf32>) -> tensor<8xf32> {
  %back = lift.gather(i -> 7 - i) %xs : (tensor<8xf32>) -> tensor<8xf32>
  %pairs = lift.zip %back, %ys : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xtuple<f32, f32>>
  %sums = lift.map_lcl(0)(%pair in %pairs) : (tensor<8xtuple<f32, f32>>) -> tensor<8xf32> {
    %x = lift.get(0) %pair : (tuple<f32, f32>) -> f32
    %y = lift.get(1) %pair : (tuple<f32, f32>) -> f32
    %sum = arith.addf %x, %y : f32
    lift.yield %sum : f32
  }
  %r = lift.scatter(i -> 7 - i) %sums : (tensor<8xf32>) -> tensor<8xf32>
  func.return %r : tensor<8xf32>
}

func.func @one_of_two(%xs: tensor<8xf32>) -> tensor<9xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = lift.pad_constant(1, 0) %xs, %zero : (tensor<8xf32>, f32) -> tensor<9xf32>
  %r = lift.map_glb(0)(%x in %padded) : (tensor<9xf32>) -> tensor<9xf32> {
    %y = arith.negf %x : f32
    lift.yield %y : f32
  }
  func.return %r : tensor<9xf32>
}

func.func @nothing(%xs: tensor<8xf32>) -> tensor<8xf32> {
  func.return %xs : tensor<8xf32>
}
