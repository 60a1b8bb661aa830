/** The scores of the liveness networks for one face, with the evidence behind them. */
export type LivenessResult = {
  /** 0..1; a higher score means that the face is more likely a live person than a presentation. */
  readonly score: number
  /** Live if score ≥ `liveMin`, spoof if score < `spoofMax` (≤ `liveMin`), otherwise uncertain. */
  readonly liveMin: number
  readonly spoofMax: number
  /** "id@version" → the score of that network, 0..1. */
  readonly networks: Readonly<Record<string, number>>
  /** Whether only the built-in network ran, whose score is a weak signal. */
  readonly isBuiltin: boolean
  /** Whether the image extends far enough around the face for the networks' crops. */
  readonly hasContext: boolean
  /** Whether the face has colour. Screens and prints cannot be recognized in a grey image. */
  readonly hasColour: boolean
}
