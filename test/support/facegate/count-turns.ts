/** Counts the turns of the event loop in which other work could run, while a job runs. */
export async function countTurns<T>(job: () => Promise<T>) {
  let turns = 0
  const countTurn = (): void => {
    turns++
    turn = setImmediate(countTurn)
  }
  let turn = setImmediate(countTurn)
  const value = await job()
  clearImmediate(turn)
  return { turns, value }
}
