%a, %b = "test.op"() : () -> (tensor<4xf32>, tensor<5xf32>)
%r = tile.add %a, %b : (tensor<4xf32>, tensor<5xf32>) -> tensor<5xf32>
