// RUN: tile-opt %s -p tile-join-axes | filecheck %s
// RUN: tile-opt %s -p 'tile-join-axes{schedules="Y: <serial d0 : 4, serial d1 : 3, serial d2 : 7>"}' | filecheck %s --check-prefix=JOINED
// RUN: tile-opt %s -p 'tile-join-axes{schedules="Y: <serial d0 : 4, serial d1 : 3, serial d2 : 7, serial d3 : 7>"}' | filecheck %s --check-prefix=GIVEN
// RUN: tile-opt %s -p 'tile-join-axes{schedules="W: <serial f : 8, serial y : 5, serial x : 6, serial c : 5, serial j : 3, serial i : 2> stage <k local order (1, 2, 3, 0)>"}' | filecheck %s --check-prefix=ORDERED
// RUN: tile-opt %s -p 'tile-join-axes{schedules="W: <serial f : 8, serial y : 5, serial x : 6, serial c : 5, serial j : 3, serial i : 2> stage <k local order (1, 0)>"}' | filecheck %s --check-prefix=PARTS

module attributes {dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<
    "compute_units" = 2 : i64, "native_vector_width" = 8 : i64>>} {

// Rows of 7 are too short for vectors; with the columns they are 49. The channels stay alone, as what
// is one for each of them is not one for each row.
// CHECK-LABEL: @rows
// CHECK:      [[X:%.*]] = tile.reshape %X to [] : tensor<4x3x7x7xf32> -> tensor<4x3x49xf32>
// CHECK-NEXT: %Y = tile.kernel(%x = [[X]] : tensor<4x3x49xf32>) -> tensor<4x3x49xf32> axes <d0 = 0 to 4, d1 = 0 to 3, d2 = 0 to 49> {
// CHECK-NEXT:   %s = tile.contraction add(%x[d0, d1, d2]) -> [d1, 0] : (tensor<4x3x49xf32>) -> tensor<3x1xf32>
// CHECK-NEXT:   %y = tile.sub %x, %s : (tensor<4x3x49xf32>, tensor<3x1xf32>) -> tensor<4x3x49xf32>
// CHECK-NEXT:   tile.yield %y : tensor<4x3x49xf32>
// CHECK-NEXT: }
// CHECK-NEXT: [[Y:%.*]] = tile.reshape %Y to [] : tensor<4x3x49xf32> -> tensor<4x3x7x7xf32>
// CHECK-NEXT: return [[Y]]
// JOINED-LABEL: @rows
// JOINED: axes <d0 = 0 to 4, d1 = 0 to 3, d2 = 0 to 49>
// GIVEN-LABEL: @rows
// GIVEN: axes <d0 = 0 to 4, d1 = 0 to 3, d2 = 0 to 7, d3 = 0 to 7>
func.func @rows(%X: tensor<4x3x7x7xf32>) -> tensor<4x3x7x7xf32> {
  %Y = tile.kernel(%x = %X : tensor<4x3x7x7xf32>) -> tensor<4x3x7x7xf32> axes <d0 = 0 to 4, d1 = 0 to 3, d2 = 0 to 7, d3 = 0 to 7> {
    %s = tile.contraction add(%x[d0, d1, d2, d3]) -> [d1, 0, 0] : (tensor<4x3x7x7xf32>) -> tensor<3x1x1xf32>
    %y = tile.sub %x, %s : (tensor<4x3x7x7xf32>, tensor<3x1x1xf32>) -> tensor<4x3x7x7xf32>
    tile.yield %y : tensor<4x3x7x7xf32>
  }
  func.return %Y : tensor<4x3x7x7xf32>
}

// Elementwise ops alone run over all axes as one, until rows are long enough.
// CHECK-LABEL: @elements
// CHECK: tile.kernel({{.*}}) -> tensor<50x72xf32> {
func.func @elements(%X: tensor<50x8x9xf32>, %S: tensor<1xf32>) -> tensor<50x8x9xf32> {
  %Z = tile.kernel(%x = %X : tensor<50x8x9xf32>, %s = %S : tensor<1xf32>) -> tensor<50x8x9xf32> {
    %z = tile.mul %x, %s : (tensor<50x8x9xf32>, tensor<1xf32>) -> tensor<50x8x9xf32>
    tile.yield %z : tensor<50x8x9xf32>
  }
  func.return %Z : tensor<50x8x9xf32>
}

// Two indices are one where every tensor has both or neither; what is computed before and after goes
// along, and the one value of k stands in its place.
// CHECK-LABEL: @contraction
// CHECK-DAG:  [[A:%.*]] = tile.reshape {{.*}} -> tensor<72x20xf32>
// CHECK-DAG:  [[B:%.*]] = tile.reshape {{.*}} -> tensor<1x20x42xf32>
// CHECK-DAG:  [[S:%.*]] = tile.reshape %S to [] : tensor<1x1xf32> -> tensor<1xf32>
// CHECK:      %Y = tile.kernel(%a = [[A]] : tensor<72x20xf32>, %b = [[B]] : tensor<1x20x42xf32>, %s = [[S]] : tensor<1xf32>) -> tensor<72x42xf32> {
// CHECK:        tile.exp %a : (tensor<72x20xf32>)
// CHECK-NEXT:   tile.contraction add(%x[m, c] mul %b[0, c, e]) -> [m, e] domain <m = 0 to 72, e = 0 to 42, c = 0 to 20>
// CHECK-NEXT:   tile.add %c, %s : (tensor<72x42xf32>, tensor<1xf32>)
// CHECK:      tile.reshape {{.*}} -> tensor<9x8x6x7xf32>
func.func @contraction(%A: tensor<9x8x5x4xf32>, %B: tensor<1x5x4x6x7xf32>, %S: tensor<1x1xf32>) -> tensor<9x8x6x7xf32> {
  %Y = tile.kernel(%a = %A : tensor<9x8x5x4xf32>, %b = %B : tensor<1x5x4x6x7xf32>, %s = %S : tensor<1x1xf32>) -> tensor<9x8x6x7xf32> {
    %x = tile.exp %a : (tensor<9x8x5x4xf32>) -> tensor<9x8x5x4xf32>
    %c = tile.contraction add(%x[m, n, c, d] mul %b[k, c, d, e, f]) -> [m, n, e, f] domain <k = 0 to 1, m = 0 to 9, n = 0 to 8, c = 0 to 5, d = 0 to 4, e = 0 to 6, f = 0 to 7> : (tensor<9x8x5x4xf32>, tensor<1x5x4x6x7xf32>) -> tensor<9x8x6x7xf32>
    %y = tile.add %c, %s : (tensor<9x8x6x7xf32>, tensor<1x1xf32>) -> tensor<9x8x6x7xf32>
    tile.yield %y : tensor<9x8x6x7xf32>
  }
  func.return %Y : tensor<9x8x6x7xf32>
}

// What is summed over need not lie along memory, and the one place along an axis of a result is gone.
// CHECK-LABEL: @summed
// CHECK: tile.contraction add(%i[n, c] mul %d[n, f]) -> [0, c, f] domain <c = 0 to 64, f = 0 to 32, n = 0 to 60>
func.func @summed(%I: tensor<3x4x5x64xf32>, %D: tensor<3x4x5x32xf32>) -> tensor<1x64x32xf32> {
  %K = tile.kernel(%i = %I : tensor<3x4x5x64xf32>, %d = %D : tensor<3x4x5x32xf32>) -> tensor<1x64x32xf32> {
    %k = tile.contraction add(%i[n, y, x + j, c] mul %d[n, y, x, f]) -> [j, c, f] domain <j = 0 to 1, c = 0 to 64, f = 0 to 32, n = 0 to 3, y = 0 to 4, x = 0 to 5> : (tensor<3x4x5x64xf32>, tensor<3x4x5x32xf32>) -> tensor<1x64x32xf32>
    tile.yield %k : tensor<1x64x32xf32>
  }
  func.return %K : tensor<1x64x32xf32>
}

// Not so windows and diagonals, nor where a factor lies along one of two indices alone.
// CHECK-LABEL: @apart
// CHECK-NOT: tile.reshape
// CHECK: return
func.func @apart(%A: tensor<9x8xf32>, %B: tensor<8xf32>, %I: tensor<9x8xf32>, %D: tensor<9x9xf32>) -> (tensor<9xf32>, tensor<9x7xf32>, tensor<f32>) {
  %P = tile.kernel(%a = %A : tensor<9x8xf32>, %b = %B : tensor<8xf32>) -> tensor<9xf32> {
    %p = tile.contraction add(%a[i, k] mul %b[k]) -> [i] domain <i = 0 to 9, k = 0 to 8> : (tensor<9x8xf32>, tensor<8xf32>) -> tensor<9xf32>
    tile.yield %p : tensor<9xf32>
  }
  %Q = tile.kernel(%a = %I : tensor<9x8xf32>) -> tensor<9x7xf32> {
    %q = tile.contraction add(%a[y, x + i]) -> [y, x] domain <y = 0 to 9, x = 0 to 7, i = -6 to 8> : (tensor<9x8xf32>) -> tensor<9x7xf32>
    tile.yield %q : tensor<9x7xf32>
  }
  %T = tile.kernel(%d = %D : tensor<9x9xf32>) -> tensor<f32> {
    %t = tile.contraction add(%d[i, i]) -> [] domain <i = 0 to 9> : (tensor<9x9xf32>) -> tensor<f32>
    tile.yield %t : tensor<f32>
  }
  func.return %P, %Q, %T : tensor<9xf32>, tensor<9x7xf32>, tensor<f32>
}

// A part of rows of short pixels is a part of rows of all their elements.
// CHECK-LABEL: @part
// CHECK: tile.reshape %X to [] : tensor<9x8x3xf32> -> tensor<9x24xf32>
// CHECK: tile.contraction assign(%{{.*}}[y, x + 6]) -> [y, x] domain <y = 0 to 9, x = 0 to 15>
func.func @part(%X: tensor<9x8x3xf32>) -> tensor<9x5x3xf32> {
  %P = tile.kernel(%x = %X : tensor<9x8x3xf32>) -> tensor<9x5x3xf32> {
    %p = tile.contraction assign(%x[y, x + 2, c]) -> [y, x, c] domain <y = 0 to 9, x = 0 to 5, c = 0 to 3> : (tensor<9x8x3xf32>) -> tensor<9x5x3xf32>
    tile.yield %p : tensor<9x5x3xf32>
  }
  func.return %P : tensor<9x5x3xf32>
}

// Not so what lies along one of two axes, what counts along an axis, and long rows.
// CHECK-LABEL: @stay
// CHECK-NOT: tile.reshape
// CHECK: return
func.func @stay(%X: tensor<5x6xf32>, %B: tensor<6xf32>, %L: tensor<5x64xf32>) -> (tensor<5x6xf32>, tensor<5x6xi32>, tensor<5x64xf32>) {
  %P = tile.kernel(%x = %X : tensor<5x6xf32>, %b = %B : tensor<6xf32>) -> tensor<5x6xf32> {
    %p = tile.add %x, %b : (tensor<5x6xf32>, tensor<6xf32>) -> tensor<5x6xf32>
    tile.yield %p : tensor<5x6xf32>
  }
  %Q = tile.kernel(%x = %X : tensor<5x6xf32>) -> tensor<5x6xi32> {
    %q = tile.index %x axis 1 : (tensor<5x6xf32>) -> tensor<5x6xi32>
    tile.yield %q : tensor<5x6xi32>
  }
  %R = tile.kernel(%x = %L : tensor<5x64xf32>) -> tensor<5x64xf32> {
    %r = tile.exp %x : (tensor<5x64xf32>) -> tensor<5x64xf32>
    tile.yield %r : tensor<5x64xf32>
  }
  func.return %P, %Q, %R : tensor<5x6xf32>, tensor<5x6xi32>, tensor<5x64xf32>
}

// A row that is broadcast along the pixels keeps them and the channels apart, but not what is summed.
// CHECK-LABEL: @with_row
// CHECK:         tile.contraction add(%{{.*}}[k, x, c]) -> [x, c] domain <x = 0 to 64, c = 0 to 3, k = 0 to 35>
func.func @with_row(%I: tensor<7x5x64x3xf32>, %B: tensor<1x3xf32>) -> tensor<64x3xf32> {
  %Z = tile.kernel(%i = %I : tensor<7x5x64x3xf32>, %b = %B : tensor<1x3xf32>) -> tensor<64x3xf32> {
    %s = tile.contraction add(%i[k, l, x, c]) -> [x, c] domain <k = 0 to 7, l = 0 to 5, x = 0 to 64, c = 0 to 3> : (tensor<7x5x64x3xf32>) -> tensor<64x3xf32>
    %z = tile.add %s, %b : (tensor<64x3xf32>, tensor<1x3xf32>) -> tensor<64x3xf32>
    tile.yield %z : tensor<64x3xf32>
  }
  func.return %Z : tensor<64x3xf32>
}

// The loops of a convolution stay, but it reads its weights as rows of all that is summed over. Where a
// schedule orders their axes, they stay as well.
// CHECK-LABEL: @weights
// CHECK:         [[K:%.*]] = tile.reshape %K to [] : tensor<8x5x3x2xf32> -> tensor<8x30xf32>
// CHECK:         tile.contraction add(%i[c, 2*y + j, x + i] mul %k[f, 6*c + 2*j + i]) -> [f, y, x] where 0 <= j < 3, 0 <= i < 2 domain
// ORDERED-LABEL: @weights
// ORDERED:       mul %k[f, c, j, i]) -> [f, y, x]
// PARTS-LABEL: @weights
// PARTS:         mul %k[f, 6*c + 2*j + i]) -> [f, y, x]
func.func @weights(%I: tensor<5x11x7xf32>, %K: tensor<8x5x3x2xf32>) -> tensor<8x5x6xf32> {
  %W = tile.kernel(%i = %I : tensor<5x11x7xf32>, %k = %K : tensor<8x5x3x2xf32>) -> tensor<8x5x6xf32> {
    %r = tile.contraction add(%i[c, 2*y + j, x + i] mul %k[f, c, j, i]) -> [f, y, x] domain <f = 0 to 8, y = 0 to 5, x = 0 to 6, c = 0 to 5, j = 0 to 3, i = 0 to 2> : (tensor<5x11x7xf32>, tensor<8x5x3x2xf32>) -> tensor<8x5x6xf32>
    tile.yield %r : tensor<8x5x6xf32>
  }
  func.return %W : tensor<8x5x6xf32>
}

// The channels are no sum in the gradient by pictures: only the taps are one. A part of an axis
// stays, and so does what is computed in the kernel.
// CHECK-LABEL: @taps
// CHECK:         tile.contraction add(%d[f, y - j, x - i] mul %k[f, c, 2*j + i]) -> [c, y, x]
// CHECK:         tile.contraction add(%a[c, j, i + 1] mul %b[c, 4*j + i]) -> [c] where 0 <= i < 4 domain
// CHECK:         tile.contraction add(%e[c, j, i + 1] mul %b[c, 4*j + i]) -> [c] where 0 <= i < 4 domain
func.func @taps(%D: tensor<8x5x6xf32>, %K: tensor<8x5x3x2xf32>, %A: tensor<5x3x5xf32>, %B: tensor<5x3x4xf32>) -> (tensor<5x11x7xf32>, tensor<5xf32>, tensor<5xf32>) {
  %P = tile.kernel(%d = %D : tensor<8x5x6xf32>, %k = %K : tensor<8x5x3x2xf32>) -> tensor<5x11x7xf32> {
    %p = tile.contraction add(%d[f, y - j, x - i] mul %k[f, c, j, i]) -> [c, y, x] domain <f = 0 to 8, j = 0 to 3, i = 0 to 2, c = 0 to 5, y = 0 to 11, x = 0 to 7> : (tensor<8x5x6xf32>, tensor<8x5x3x2xf32>) -> tensor<5x11x7xf32>
    tile.yield %p : tensor<5x11x7xf32>
  }
  %S = tile.kernel(%a = %A : tensor<5x3x5xf32>, %b = %B : tensor<5x3x4xf32>) -> tensor<5xf32> {
    %s = tile.contraction add(%a[c, j, i + 1] mul %b[c, j, i]) -> [c] domain <c = 0 to 5, j = 0 to 3, i = 0 to 4> : (tensor<5x3x5xf32>, tensor<5x3x4xf32>) -> tensor<5xf32>
    tile.yield %s : tensor<5xf32>
  }
  %T = tile.kernel(%a = %A : tensor<5x3x5xf32>, %b = %B : tensor<5x3x4xf32>) -> tensor<5xf32> {
    %e = tile.exp %a : (tensor<5x3x5xf32>) -> tensor<5x3x5xf32>
    %t = tile.contraction add(%e[c, j, i + 1] mul %b[c, j, i]) -> [c] domain <c = 0 to 5, j = 0 to 3, i = 0 to 4> : (tensor<5x3x5xf32>, tensor<5x3x4xf32>) -> tensor<5xf32>
    tile.yield %t : tensor<5xf32>
  }
  func.return %P, %S, %T : tensor<5x11x7xf32>, tensor<5xf32>, tensor<5xf32>
}

// A diagonal is read as a row of elements that are as far from one another as in a column; one that is
// summed up, one of short rows, and one that slides, stay.
// CHECK-LABEL: @diagonals
// CHECK-DAG:   [[X:%.*]] = tile.reshape %X to [] : tensor<3x41x41xf32> -> tensor<3x1681xf32>
// CHECK:       tile.contraction assign(%{{.*}}[b, 42*i]) -> [b, i]
// CHECK:       tile.contraction assign(%{{.*}}[b, 42*i + 1]) -> [b, i]
// CHECK:       tile.contraction add(%x[b, i, i]) -> [b]
// CHECK:       tile.contraction assign(%y[b, i, i]) -> [b, i]
// CHECK:       tile.contraction add(%x[b, i, i + j]) -> [b, i]
func.func @diagonals(%X: tensor<3x41x41xf32>, %Y: tensor<9x7x7xf32>) -> (tensor<9x7xf32>, tensor<3x41xf32>, tensor<3x40xf32>, tensor<3xf32>, tensor<3x40xf32>) {
  %D = tile.kernel(%x = %X : tensor<3x41x41xf32>) -> tensor<3x41xf32> {
    %d = tile.contraction assign(%x[b, i, i]) -> [b, i] domain <b = 0 to 3, i = 0 to 41> : (tensor<3x41x41xf32>) -> tensor<3x41xf32>
    tile.yield %d : tensor<3x41xf32>
  }
  %A = tile.kernel(%x = %X : tensor<3x41x41xf32>) -> tensor<3x40xf32> {
    %a = tile.contraction assign(%x[b, i, i + 1]) -> [b, i] domain <b = 0 to 3, i = 0 to 40> : (tensor<3x41x41xf32>) -> tensor<3x40xf32>
    tile.yield %a : tensor<3x40xf32>
  }
  %T = tile.kernel(%x = %X : tensor<3x41x41xf32>) -> tensor<3xf32> {
    %t = tile.contraction add(%x[b, i, i]) -> [b] domain <b = 0 to 3, i = 0 to 41> : (tensor<3x41x41xf32>) -> tensor<3xf32>
    tile.yield %t : tensor<3xf32>
  }
  %R = tile.kernel(%y = %Y : tensor<9x7x7xf32>) -> tensor<9x7xf32> {
    %r = tile.contraction assign(%y[b, i, i]) -> [b, i] domain <b = 0 to 9, i = 0 to 7> : (tensor<9x7x7xf32>) -> tensor<9x7xf32>
    tile.yield %r : tensor<9x7xf32>
  }
  %S = tile.kernel(%x = %X : tensor<3x41x41xf32>) -> tensor<3x40xf32> {
    %s = tile.contraction add(%x[b, i, i + j]) -> [b, i] domain <b = 0 to 3, i = 0 to 40, j = -39 to 41> : (tensor<3x41x41xf32>) -> tensor<3x40xf32>
    tile.yield %s : tensor<3x40xf32>
  }
  func.return %R, %D, %A, %T, %S : tensor<9x7xf32>, tensor<3x41xf32>, tensor<3x40xf32>, tensor<3xf32>, tensor<3x40xf32>
}

// What is yielded as it is given has no axes to join.
// CHECK-LABEL: @given_back
// CHECK: tile.kernel(%{{.*}} = %X : tensor<6x40xf32>) -> tensor<6x40xf32>
func.func @given_back(%X: tensor<6x40xf32>) -> tensor<6x40xf32> {
  %K = tile.kernel(%x = %X : tensor<6x40xf32>) -> tensor<6x40xf32> {
    tile.yield %x : tensor<6x40xf32>
  }
  func.return %K : tensor<6x40xf32>
}
}
