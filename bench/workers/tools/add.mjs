// The function of Calculator.Add.
export const run = ({ a, b }) => a + b;
