// Written by generate.py, which stands beside this file.
// RUN: tile-opt %s -p 'lift-rewrite{function=slide_tiling rule=slide_tiling sizes="v=2"},lift-rewrite{function=slide2_tiling rule=slide2_tiling sizes="v=2"},lift-rewrite{function=tile_stencil_2d rule=tile_stencil_2d sizes="v=4"},lift-rewrite{function=tile_stencil_2d_zip rule=tile_stencil_2d_zip sizes="v=2"},lift-rewrite{function=tile_stencil_3d rule=tile_stencil_3d sizes="v=2"},lift-rewrite{function=tile_stencil_25d rule=tile_stencil_25d sizes="v=2","w=4"},lift-rewrite{function=map_seq_slide rule=map_seq_slide},lift-rewrite{function=map_seq_slide_seq rule=map_seq_slide_seq},lift-rewrite{function=map_seq_slide_tiling rule=map_seq_slide_tiling sizes="v=2"},lift-rewrite{function=map_seq_slide_2d rule=map_seq_slide_2d}' | filecheck %s

// `slide(n, s) = slide(u, v) >> map(slide(n, s)) >> join`, where `u - v == n - s`.
//
// `s` divides `v`, and `v` divides the number of elements that the windows begin at.
// CHECK-LABEL: func.func @slide_tiling(
// CHECK-NEXT: lift.pad(1, 1, clamp)
// CHECK-NEXT: lift.slide(4, 2)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.slide(3, 1)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.join
// CHECK-NEXT: func.return
func.func @slide_tiling(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?x3xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.pad(1, 1, clamp) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N + 2>>
  %1 = lift.slide(3, 1) %0 : (tensor<?xf32, #lift.sizes<N + 2>>) -> tensor<?x3xf32, #lift.sizes<N>>
  func.return %1 : tensor<?x3xf32, #lift.sizes<N>>
}

// `slide2(n, s) = slide2(u, v) >> map2(slide2(n, s)) >> untile2`, where `u - v == n - s`.
// CHECK-LABEL: func.func @slide2_tiling(
// CHECK-NEXT: lift.pad(1, 1, clamp)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.pad(1, 1, clamp)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.slide(4, 2)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.slide(4, 2)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.slide(3, 1)
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.slide(3, 1)
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.transpose
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.join
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.join
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @slide2_tiling(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?x3x3xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.pad(1, 1, clamp) %x : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N + 2, M>>
  %1 = lift.map(%2 in %0) : (tensor<?x?xf32, #lift.sizes<N + 2, M>>) -> tensor<?x?xf32, #lift.sizes<N + 2, M + 2>> {
    %3 = lift.pad(1, 1, clamp) %2 : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M + 2>>
    lift.yield %3 : tensor<?xf32, #lift.sizes<M + 2>>
  }
  %4 = lift.map(%5 in %1) : (tensor<?x?xf32, #lift.sizes<N + 2, M + 2>>) -> tensor<?x?x3xf32, #lift.sizes<N + 2, M>> {
    %6 = lift.slide(3, 1) %5 : (tensor<?xf32, #lift.sizes<M + 2>>) -> tensor<?x3xf32, #lift.sizes<M>>
    lift.yield %6 : tensor<?x3xf32, #lift.sizes<M>>
  }
  %7 = lift.slide(3, 1) %4 : (tensor<?x?x3xf32, #lift.sizes<N + 2, M>>) -> tensor<?x3x?x3xf32, #lift.sizes<N, M>>
  %8 = lift.map(%9 in %7) : (tensor<?x3x?x3xf32, #lift.sizes<N, M>>) -> tensor<?x?x3x3xf32, #lift.sizes<N, M>> {
    %10 = lift.transpose %9 : (tensor<3x?x3xf32, #lift.sizes<M>>) -> tensor<?x3x3xf32, #lift.sizes<M>>
    lift.yield %10 : tensor<?x3x3xf32, #lift.sizes<M>>
  }
  func.return %8 : tensor<?x?x3x3xf32, #lift.sizes<N, M>>
}

// A stencil on a matrix in tiles of `u` x `u` that overlap, where `u - v == n - s`.
//
// `slide2(n, s) >> map2(f) = slide2(u, v) >> map2(slide2(n, s) >> map2(f)) >> untile2`
// CHECK-LABEL: func.func @tile_stencil_2d(
// CHECK-NEXT: lift.pad(1, 1, clamp)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.pad(1, 1, clamp)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.slide(6, 4)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.slide(6, 4)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.slide(3, 1)
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.slide(3, 1)
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.transpose
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.map(
// CHECK-NEXT:         lift.join
// CHECK-NEXT:         arith.constant 0.000000e+00 : f32
// CHECK-NEXT:         lift.reduce(
// CHECK-NEXT:           arith.addf
// CHECK-NEXT:           lift.yield
// CHECK-NEXT:         }
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.join
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.join
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @tile_stencil_2d(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.pad(1, 1, clamp) %x : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N + 2, M>>
  %1 = lift.map(%2 in %0) : (tensor<?x?xf32, #lift.sizes<N + 2, M>>) -> tensor<?x?xf32, #lift.sizes<N + 2, M + 2>> {
    %3 = lift.pad(1, 1, clamp) %2 : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M + 2>>
    lift.yield %3 : tensor<?xf32, #lift.sizes<M + 2>>
  }
  %4 = lift.map(%5 in %1) : (tensor<?x?xf32, #lift.sizes<N + 2, M + 2>>) -> tensor<?x?x3xf32, #lift.sizes<N + 2, M>> {
    %6 = lift.slide(3, 1) %5 : (tensor<?xf32, #lift.sizes<M + 2>>) -> tensor<?x3xf32, #lift.sizes<M>>
    lift.yield %6 : tensor<?x3xf32, #lift.sizes<M>>
  }
  %7 = lift.slide(3, 1) %4 : (tensor<?x?x3xf32, #lift.sizes<N + 2, M>>) -> tensor<?x3x?x3xf32, #lift.sizes<N, M>>
  %8 = lift.map(%9 in %7) : (tensor<?x3x?x3xf32, #lift.sizes<N, M>>) -> tensor<?x?x3x3xf32, #lift.sizes<N, M>> {
    %10 = lift.transpose %9 : (tensor<3x?x3xf32, #lift.sizes<M>>) -> tensor<?x3x3xf32, #lift.sizes<M>>
    lift.yield %10 : tensor<?x3x3xf32, #lift.sizes<M>>
  }
  %11 = lift.map(%12 in %8) : (tensor<?x?x3x3xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %13 = lift.map(%14 in %12) : (tensor<?x3x3xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %15 = lift.join %14 : (tensor<3x3xf32>) -> tensor<9xf32>
      %16 = arith.constant 0.000000e+00 : f32
      %17 = lift.reduce(%a from %16, %b in %15) : (f32, tensor<9xf32>) -> f32 {
        %18 = arith.addf %a, %b : f32
        lift.yield %18 : f32
      }
      lift.yield %17 : f32
    }
    lift.yield %13 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %11 : tensor<?x?xf32, #lift.sizes<N, M>>
}

// A stencil on windows and other matrices, `zip2(x >> slide2(n, s), y) >> map2(f)`, in tiles.
//
// It is `zip2(x >> slide2(u, v), y >> tiles(v / s)) >> map2((x, y) ⇒ zip2(x >> slide2(n, s), y) >>
// map2(f)) >> untile2`, where `u - v == n - s` and `v` is a multiple of `s`.
// CHECK-LABEL: func.func @tile_stencil_2d_zip(
// CHECK-NEXT: lift.pad(1, 1, clamp)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.pad(1, 1, clamp)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.slide(4, 2)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.slide(4, 2)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.slide(2, 2)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.slide(2, 2)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.zip
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.get(0)
// CHECK-NEXT:   lift.get(1)
// CHECK-NEXT:   lift.zip
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.get(0)
// CHECK-NEXT:     lift.get(1)
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.slide(3, 1)
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.slide(3, 1)
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.transpose
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.zip
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.get(0)
// CHECK-NEXT:       lift.get(1)
// CHECK-NEXT:       lift.zip
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.map(
// CHECK-NEXT:         lift.get(0)
// CHECK-NEXT:         lift.get(1)
// CHECK-NEXT:         lift.join
// CHECK-NEXT:         arith.constant 0.000000e+00 : f32
// CHECK-NEXT:         lift.reduce(
// CHECK-NEXT:           arith.addf
// CHECK-NEXT:           lift.yield
// CHECK-NEXT:         }
// CHECK-NEXT:         arith.addf
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.join
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.join
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @tile_stencil_2d_zip(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}, %y: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "y"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.pad(1, 1, clamp) %x : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N + 2, M>>
  %1 = lift.map(%2 in %0) : (tensor<?x?xf32, #lift.sizes<N + 2, M>>) -> tensor<?x?xf32, #lift.sizes<N + 2, M + 2>> {
    %3 = lift.pad(1, 1, clamp) %2 : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M + 2>>
    lift.yield %3 : tensor<?xf32, #lift.sizes<M + 2>>
  }
  %4 = lift.map(%5 in %1) : (tensor<?x?xf32, #lift.sizes<N + 2, M + 2>>) -> tensor<?x?x3xf32, #lift.sizes<N + 2, M>> {
    %6 = lift.slide(3, 1) %5 : (tensor<?xf32, #lift.sizes<M + 2>>) -> tensor<?x3xf32, #lift.sizes<M>>
    lift.yield %6 : tensor<?x3xf32, #lift.sizes<M>>
  }
  %7 = lift.slide(3, 1) %4 : (tensor<?x?x3xf32, #lift.sizes<N + 2, M>>) -> tensor<?x3x?x3xf32, #lift.sizes<N, M>>
  %8 = lift.map(%9 in %7) : (tensor<?x3x?x3xf32, #lift.sizes<N, M>>) -> tensor<?x?x3x3xf32, #lift.sizes<N, M>> {
    %10 = lift.transpose %9 : (tensor<3x?x3xf32, #lift.sizes<M>>) -> tensor<?x3x3xf32, #lift.sizes<M>>
    lift.yield %10 : tensor<?x3x3xf32, #lift.sizes<M>>
  }
  %11 = lift.zip %8, %y : (tensor<?x?x3x3xf32, #lift.sizes<N, M>>, tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?xtuple<tensor<?x3x3xf32, #lift.sizes<M>>, tensor<?xf32, #lift.sizes<M>>>, #lift.sizes<N>>
  %12 = lift.map(%13 in %11) : (tensor<?xtuple<tensor<?x3x3xf32, #lift.sizes<M>>, tensor<?xf32, #lift.sizes<M>>>, #lift.sizes<N>>) -> tensor<?x?xtuple<tensor<3x3xf32>, f32>, #lift.sizes<N, M>> {
    %14 = lift.get(0) %13 : (tuple<tensor<?x3x3xf32, #lift.sizes<M>>, tensor<?xf32, #lift.sizes<M>>>) -> tensor<?x3x3xf32, #lift.sizes<M>>
    %15 = lift.get(1) %13 : (tuple<tensor<?x3x3xf32, #lift.sizes<M>>, tensor<?xf32, #lift.sizes<M>>>) -> tensor<?xf32, #lift.sizes<M>>
    %16 = lift.zip %14, %15 : (tensor<?x3x3xf32, #lift.sizes<M>>, tensor<?xf32, #lift.sizes<M>>) -> tensor<?xtuple<tensor<3x3xf32>, f32>, #lift.sizes<M>>
    lift.yield %16 : tensor<?xtuple<tensor<3x3xf32>, f32>, #lift.sizes<M>>
  }
  %17 = lift.map(%18 in %12) : (tensor<?x?xtuple<tensor<3x3xf32>, f32>, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %19 = lift.map(%20 in %18) : (tensor<?xtuple<tensor<3x3xf32>, f32>, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %w = lift.get(0) %20 : (tuple<tensor<3x3xf32>, f32>) -> tensor<3x3xf32>
      %a = lift.get(1) %20 : (tuple<tensor<3x3xf32>, f32>) -> f32
      %21 = lift.join %w : (tensor<3x3xf32>) -> tensor<9xf32>
      %22 = arith.constant 0.000000e+00 : f32
      %23 = lift.reduce(%a_1 from %22, %b in %21) : (f32, tensor<9xf32>) -> f32 {
        %24 = arith.addf %a_1, %b : f32
        lift.yield %24 : f32
      }
      %25 = arith.addf %23, %a : f32
      lift.yield %25 : f32
    }
    lift.yield %19 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %17 : tensor<?x?xf32, #lift.sizes<N, M>>
}

// A stencil on three axes in tiles of `u` x `u` x `u` that overlap, where `u - v == n - s`.
//
// `slide3(n, s) >> map3(f) = slide3(u, v) >> map3(slide3(n, s) >> map3(f)) >> untile3`
// CHECK-LABEL: func.func @tile_stencil_3d(
// CHECK-NEXT: lift.pad(1, 1, clamp)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.pad(1, 1, clamp)
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.pad(1, 1, clamp)
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.slide(4, 2)
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.slide(4, 2)
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.slide(4, 2)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.map(
// CHECK-NEXT:         lift.map(
// CHECK-NEXT:           lift.slide(3, 1)
// CHECK-NEXT:           lift.yield
// CHECK-NEXT:         }
// CHECK-NEXT:         lift.slide(3, 1)
// CHECK-NEXT:         lift.map(
// CHECK-NEXT:           lift.transpose
// CHECK-NEXT:           lift.yield
// CHECK-NEXT:         }
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.slide(3, 1)
// CHECK-NEXT:       lift.map(
// CHECK-NEXT:         lift.transpose
// CHECK-NEXT:         lift.map(
// CHECK-NEXT:           lift.transpose
// CHECK-NEXT:           lift.yield
// CHECK-NEXT:         }
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.map(
// CHECK-NEXT:         lift.map(
// CHECK-NEXT:           lift.map(
// CHECK-NEXT:             lift.join
// CHECK-NEXT:             lift.join
// CHECK-NEXT:             arith.constant 0.000000e+00 : f32
// CHECK-NEXT:             lift.reduce(
// CHECK-NEXT:               arith.addf
// CHECK-NEXT:               lift.yield
// CHECK-NEXT:             }
// CHECK-NEXT:             lift.yield
// CHECK-NEXT:           }
// CHECK-NEXT:           lift.yield
// CHECK-NEXT:         }
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.map(
// CHECK-NEXT:       lift.transpose
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.join
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.join
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.join
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @tile_stencil_3d(%x: tensor<4x2x2xf32> {tile.name = "x"}) -> (tensor<4x2x2xf32> {tile.name = "out"}) {
  %0 = lift.pad(1, 1, clamp) %x : (tensor<4x2x2xf32>) -> tensor<6x2x2xf32>
  %1 = lift.map(%2 in %0) : (tensor<6x2x2xf32>) -> tensor<6x4x4xf32> {
    %3 = lift.pad(1, 1, clamp) %2 : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %4 = lift.map(%5 in %3) : (tensor<4x2xf32>) -> tensor<4x4xf32> {
      %6 = lift.pad(1, 1, clamp) %5 : (tensor<2xf32>) -> tensor<4xf32>
      lift.yield %6 : tensor<4xf32>
    }
    lift.yield %4 : tensor<4x4xf32>
  }
  %7 = lift.map(%8 in %1) : (tensor<6x4x4xf32>) -> tensor<6x2x2x3x3xf32> {
    %9 = lift.map(%10 in %8) : (tensor<4x4xf32>) -> tensor<4x2x3xf32> {
      %11 = lift.slide(3, 1) %10 : (tensor<4xf32>) -> tensor<2x3xf32>
      lift.yield %11 : tensor<2x3xf32>
    }
    %12 = lift.slide(3, 1) %9 : (tensor<4x2x3xf32>) -> tensor<2x3x2x3xf32>
    %13 = lift.map(%14 in %12) : (tensor<2x3x2x3xf32>) -> tensor<2x2x3x3xf32> {
      %15 = lift.transpose %14 : (tensor<3x2x3xf32>) -> tensor<2x3x3xf32>
      lift.yield %15 : tensor<2x3x3xf32>
    }
    lift.yield %13 : tensor<2x2x3x3xf32>
  }
  %16 = lift.slide(3, 1) %7 : (tensor<6x2x2x3x3xf32>) -> tensor<4x3x2x2x3x3xf32>
  %17 = lift.map(%18 in %16) : (tensor<4x3x2x2x3x3xf32>) -> tensor<4x2x2x3x3x3xf32> {
    %19 = lift.transpose %18 : (tensor<3x2x2x3x3xf32>) -> tensor<2x3x2x3x3xf32>
    %20 = lift.map(%21 in %19) : (tensor<2x3x2x3x3xf32>) -> tensor<2x2x3x3x3xf32> {
      %22 = lift.transpose %21 : (tensor<3x2x3x3xf32>) -> tensor<2x3x3x3xf32>
      lift.yield %22 : tensor<2x3x3x3xf32>
    }
    lift.yield %20 : tensor<2x2x3x3x3xf32>
  }
  %23 = lift.map(%24 in %17) : (tensor<4x2x2x3x3x3xf32>) -> tensor<4x2x2xf32> {
    %25 = lift.map(%26 in %24) : (tensor<2x2x3x3x3xf32>) -> tensor<2x2xf32> {
      %27 = lift.map(%28 in %26) : (tensor<2x3x3x3xf32>) -> tensor<2xf32> {
        %29 = lift.join %28 : (tensor<3x3x3xf32>) -> tensor<9x3xf32>
        %30 = lift.join %29 : (tensor<9x3xf32>) -> tensor<27xf32>
        %31 = arith.constant 0.000000e+00 : f32
        %32 = lift.reduce(%a from %31, %b in %30) : (f32, tensor<27xf32>) -> f32 {
          %33 = arith.addf %a, %b : f32
          lift.yield %33 : f32
        }
        lift.yield %32 : f32
      }
      lift.yield %27 : tensor<2xf32>
    }
    lift.yield %25 : tensor<2x2xf32>
  }
  func.return %23 : tensor<4x2x2xf32>
}

// A stencil on three axes in 2.5D: tiles along two axes, each gone through along the first.
//
// `slide3(n, s) >> map3(f)` is, for every tile of `u` x `u`, a `map_seq_slide` over its planes,
// of which the last `n` are at hand; `u - v == n - s`. With `w` the tiles are that far apart along
// the last axis.
// CHECK-LABEL: func.func @tile_stencil_25d(
// CHECK-NEXT: lift.pad(1, 1, clamp)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.pad(1, 1, clamp)
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.pad(1, 1, clamp)
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.slide(6, 4)
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.slide(4, 2)
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.map_seq_slide(3, 1)(
// CHECK-NEXT:       lift.map(
// CHECK-NEXT:         lift.map(
// CHECK-NEXT:           lift.slide(3, 1)
// CHECK-NEXT:           lift.yield
// CHECK-NEXT:         }
// CHECK-NEXT:         lift.slide(3, 1)
// CHECK-NEXT:         lift.map(
// CHECK-NEXT:           lift.transpose
// CHECK-NEXT:           lift.yield
// CHECK-NEXT:         }
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.transpose
// CHECK-NEXT:       lift.map(
// CHECK-NEXT:         lift.transpose
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.map(
// CHECK-NEXT:         lift.map(
// CHECK-NEXT:           lift.join
// CHECK-NEXT:           lift.join
// CHECK-NEXT:           arith.constant 0.000000e+00 : f32
// CHECK-NEXT:           lift.reduce(
// CHECK-NEXT:             arith.addf
// CHECK-NEXT:             lift.yield
// CHECK-NEXT:           }
// CHECK-NEXT:           lift.yield
// CHECK-NEXT:         }
// CHECK-NEXT:         lift.yield
// CHECK-NEXT:       }
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.transpose
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.join
// CHECK-NEXT:   lift.map(
// CHECK-NEXT:     lift.join
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @tile_stencil_25d(%x: tensor<4x2x4xf32> {tile.name = "x"}) -> (tensor<4x2x4xf32> {tile.name = "out"}) {
  %0 = lift.pad(1, 1, clamp) %x : (tensor<4x2x4xf32>) -> tensor<6x2x4xf32>
  %1 = lift.map(%2 in %0) : (tensor<6x2x4xf32>) -> tensor<6x4x6xf32> {
    %3 = lift.pad(1, 1, clamp) %2 : (tensor<2x4xf32>) -> tensor<4x4xf32>
    %4 = lift.map(%5 in %3) : (tensor<4x4xf32>) -> tensor<4x6xf32> {
      %6 = lift.pad(1, 1, clamp) %5 : (tensor<4xf32>) -> tensor<6xf32>
      lift.yield %6 : tensor<6xf32>
    }
    lift.yield %4 : tensor<4x6xf32>
  }
  %7 = lift.map(%8 in %1) : (tensor<6x4x6xf32>) -> tensor<6x2x4x3x3xf32> {
    %9 = lift.map(%10 in %8) : (tensor<4x6xf32>) -> tensor<4x4x3xf32> {
      %11 = lift.slide(3, 1) %10 : (tensor<6xf32>) -> tensor<4x3xf32>
      lift.yield %11 : tensor<4x3xf32>
    }
    %12 = lift.slide(3, 1) %9 : (tensor<4x4x3xf32>) -> tensor<2x3x4x3xf32>
    %13 = lift.map(%14 in %12) : (tensor<2x3x4x3xf32>) -> tensor<2x4x3x3xf32> {
      %15 = lift.transpose %14 : (tensor<3x4x3xf32>) -> tensor<4x3x3xf32>
      lift.yield %15 : tensor<4x3x3xf32>
    }
    lift.yield %13 : tensor<2x4x3x3xf32>
  }
  %16 = lift.slide(3, 1) %7 : (tensor<6x2x4x3x3xf32>) -> tensor<4x3x2x4x3x3xf32>
  %17 = lift.map(%18 in %16) : (tensor<4x3x2x4x3x3xf32>) -> tensor<4x2x4x3x3x3xf32> {
    %19 = lift.transpose %18 : (tensor<3x2x4x3x3xf32>) -> tensor<2x3x4x3x3xf32>
    %20 = lift.map(%21 in %19) : (tensor<2x3x4x3x3xf32>) -> tensor<2x4x3x3x3xf32> {
      %22 = lift.transpose %21 : (tensor<3x4x3x3xf32>) -> tensor<4x3x3x3xf32>
      lift.yield %22 : tensor<4x3x3x3xf32>
    }
    lift.yield %20 : tensor<2x4x3x3x3xf32>
  }
  %23 = lift.map(%24 in %17) : (tensor<4x2x4x3x3x3xf32>) -> tensor<4x2x4xf32> {
    %25 = lift.map(%26 in %24) : (tensor<2x4x3x3x3xf32>) -> tensor<2x4xf32> {
      %27 = lift.map(%28 in %26) : (tensor<4x3x3x3xf32>) -> tensor<4xf32> {
        %29 = lift.join %28 : (tensor<3x3x3xf32>) -> tensor<9x3xf32>
        %30 = lift.join %29 : (tensor<9x3xf32>) -> tensor<27xf32>
        %31 = arith.constant 0.000000e+00 : f32
        %32 = lift.reduce(%a from %31, %b in %30) : (f32, tensor<27xf32>) -> f32 {
          %33 = arith.addf %a, %b : f32
          lift.yield %33 : f32
        }
        lift.yield %32 : f32
      }
      lift.yield %27 : tensor<4xf32>
    }
    lift.yield %25 : tensor<2x4xf32>
  }
  func.return %23 : tensor<4x2x4xf32>
}

// `slide(n, s) >> map(f) = map_seq_slide(f, n, s)`.
// CHECK-LABEL: func.func @map_seq_slide(
// CHECK-NEXT: lift.map_seq_slide(4, 2)(
// CHECK-NEXT:   arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   lift.reduce(
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_seq_slide(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<(N - 2) / 2>> {tile.name = "out"}) {
  %0 = lift.slide(4, 2) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x4xf32, #lift.sizes<(N - 2) / 2>>
  %1 = lift.map(%2 in %0) : (tensor<?x4xf32, #lift.sizes<(N - 2) / 2>>) -> tensor<?xf32, #lift.sizes<(N - 2) / 2>> {
    %3 = arith.constant 0.000000e+00 : f32
    %4 = lift.reduce(%a from %3, %b in %2) : (f32, tensor<4xf32>) -> f32 {
      %5 = arith.addf %a, %b : f32
      lift.yield %5 : f32
    }
    lift.yield %4 : f32
  }
  func.return %1 : tensor<?xf32, #lift.sizes<(N - 2) / 2>>
}

// `slide(n, s) >> map_seq(f) = map_seq_slide(f, n, s)`.
// CHECK-LABEL: func.func @map_seq_slide_seq(
// CHECK-NEXT: lift.map_seq_slide(3, 1)(
// CHECK-NEXT:   arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   lift.reduce(
// CHECK-NEXT:     arith.addf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_seq_slide_seq(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N - 2>> {tile.name = "out"}) {
  %0 = lift.slide(3, 1) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?x3xf32, #lift.sizes<N - 2>>
  %1 = lift.map_seq(%2 in %0) : (tensor<?x3xf32, #lift.sizes<N - 2>>) -> tensor<?xf32, #lift.sizes<N - 2>> {
    %3 = arith.constant 0.000000e+00 : f32
    %4 = lift.reduce(%a from %3, %b in %2) : (f32, tensor<3xf32>) -> f32 {
      %5 = arith.addf %a, %b : f32
      lift.yield %5 : f32
    }
    lift.yield %4 : f32
  }
  func.return %1 : tensor<?xf32, #lift.sizes<N - 2>>
}

// `map_seq_slide(f, n, s) = slide(u, v) >> map(map_seq_slide(f, n, s)) >> join`.
//
// `u - v == n - s`, and `s` divides `v`: parts that begin anew, which others may do.
// CHECK-LABEL: func.func @map_seq_slide_tiling(
// CHECK-NEXT: lift.pad(1, 1, clamp)
// CHECK-NEXT: lift.slide(4, 2)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.map_seq_slide(3, 1)(
// CHECK-NEXT:     arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     lift.reduce(
// CHECK-NEXT:       arith.addf
// CHECK-NEXT:       lift.yield
// CHECK-NEXT:     }
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.join
// CHECK-NEXT: func.return
func.func @map_seq_slide_tiling(%x: tensor<?xf32, #lift.sizes<N>> {tile.name = "x"}) -> (tensor<?xf32, #lift.sizes<N>> {tile.name = "out"}) {
  %0 = lift.pad(1, 1, clamp) %x : (tensor<?xf32, #lift.sizes<N>>) -> tensor<?xf32, #lift.sizes<N + 2>>
  %1 = lift.map_seq_slide(3, 1)(%2 in %0) : (tensor<?xf32, #lift.sizes<N + 2>>) -> tensor<?xf32, #lift.sizes<N>> {
    %3 = arith.constant 0.000000e+00 : f32
    %4 = lift.reduce(%a from %3, %b in %2) : (f32, tensor<3xf32>) -> f32 {
      %5 = arith.addf %a, %b : f32
      lift.yield %5 : f32
    }
    lift.yield %4 : f32
  }
  func.return %1 : tensor<?xf32, #lift.sizes<N>>
}

// `slide2(n, s) >> map2(f)`, each row of windows gone through by `map_seq_slide`.
//
// `slide(n, s) >> map(transpose >> map_seq_slide(transpose >> f, n, s))`
// CHECK-LABEL: func.func @map_seq_slide_2d(
// CHECK-NEXT: lift.pad(1, 1, clamp)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.pad(1, 1, clamp)
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: lift.slide(3, 1)
// CHECK-NEXT: lift.map(
// CHECK-NEXT:   lift.transpose
// CHECK-NEXT:   lift.map_seq_slide(3, 1)(
// CHECK-NEXT:     lift.transpose
// CHECK-NEXT:     lift.size(0) : () -> index
// CHECK-NEXT:     lift.at
// CHECK-NEXT:     lift.size(1) : () -> index
// CHECK-NEXT:     lift.at
// CHECK-NEXT:     lift.size(2) : () -> index
// CHECK-NEXT:     lift.at
// CHECK-NEXT:     lift.size(0) : () -> index
// CHECK-NEXT:     lift.at
// CHECK-NEXT:     lift.size(1) : () -> index
// CHECK-NEXT:     lift.at
// CHECK-NEXT:     lift.size(2) : () -> index
// CHECK-NEXT:     lift.at
// CHECK-NEXT:     arith.mulf
// CHECK-NEXT:     arith.subf
// CHECK-NEXT:     lift.yield
// CHECK-NEXT:   }
// CHECK-NEXT:   lift.yield
// CHECK-NEXT: }
// CHECK-NEXT: func.return
func.func @map_seq_slide_2d(%x: tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "x"}) -> (tensor<?x?xf32, #lift.sizes<N, M>> {tile.name = "out"}) {
  %0 = lift.pad(1, 1, clamp) %x : (tensor<?x?xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N + 2, M>>
  %1 = lift.map(%2 in %0) : (tensor<?x?xf32, #lift.sizes<N + 2, M>>) -> tensor<?x?xf32, #lift.sizes<N + 2, M + 2>> {
    %3 = lift.pad(1, 1, clamp) %2 : (tensor<?xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M + 2>>
    lift.yield %3 : tensor<?xf32, #lift.sizes<M + 2>>
  }
  %4 = lift.map(%5 in %1) : (tensor<?x?xf32, #lift.sizes<N + 2, M + 2>>) -> tensor<?x?x3xf32, #lift.sizes<N + 2, M>> {
    %6 = lift.slide(3, 1) %5 : (tensor<?xf32, #lift.sizes<M + 2>>) -> tensor<?x3xf32, #lift.sizes<M>>
    lift.yield %6 : tensor<?x3xf32, #lift.sizes<M>>
  }
  %7 = lift.slide(3, 1) %4 : (tensor<?x?x3xf32, #lift.sizes<N + 2, M>>) -> tensor<?x3x?x3xf32, #lift.sizes<N, M>>
  %8 = lift.map(%9 in %7) : (tensor<?x3x?x3xf32, #lift.sizes<N, M>>) -> tensor<?x?x3x3xf32, #lift.sizes<N, M>> {
    %10 = lift.transpose %9 : (tensor<3x?x3xf32, #lift.sizes<M>>) -> tensor<?x3x3xf32, #lift.sizes<M>>
    lift.yield %10 : tensor<?x3x3xf32, #lift.sizes<M>>
  }
  %11 = lift.map(%12 in %8) : (tensor<?x?x3x3xf32, #lift.sizes<N, M>>) -> tensor<?x?xf32, #lift.sizes<N, M>> {
    %13 = lift.map(%w in %12) : (tensor<?x3x3xf32, #lift.sizes<M>>) -> tensor<?xf32, #lift.sizes<M>> {
      %14 = lift.size(0) : () -> index
      %15 = lift.at %w, %14 : (tensor<3x3xf32>, index) -> tensor<3xf32>
      %16 = lift.size(1) : () -> index
      %17 = lift.at %15, %16 : (tensor<3xf32>, index) -> f32
      %18 = lift.size(2) : () -> index
      %19 = lift.at %w, %18 : (tensor<3x3xf32>, index) -> tensor<3xf32>
      %20 = lift.size(0) : () -> index
      %21 = lift.at %19, %20 : (tensor<3xf32>, index) -> f32
      %22 = lift.size(1) : () -> index
      %23 = lift.at %w, %22 : (tensor<3x3xf32>, index) -> tensor<3xf32>
      %24 = lift.size(2) : () -> index
      %25 = lift.at %23, %24 : (tensor<3xf32>, index) -> f32
      %26 = arith.mulf %21, %25 : f32
      %27 = arith.subf %17, %26 : f32
      lift.yield %27 : f32
    }
    lift.yield %13 : tensor<?xf32, #lift.sizes<M>>
  }
  func.return %11 : tensor<?x?xf32, #lift.sizes<N, M>>
}
