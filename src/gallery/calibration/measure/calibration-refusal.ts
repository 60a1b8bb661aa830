/** A calibration that the gallery or the request does not permit. The message names the rule and the remedy. */
export class CalibrationRefusal extends Error {
  override readonly name = 'CalibrationRefusal'
}
