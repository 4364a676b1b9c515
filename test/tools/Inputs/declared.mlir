// A function without a body, which is no tensor program.
func.func private @g(tensor<4xf32>) -> tensor<4xf32>
