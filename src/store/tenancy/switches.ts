/** The switches of a new project. */
export const defaultSwitches: ProjectSwitches = {
  gender: true,
  expression: true,
  storeCrops: false,
  autoEnroll: false,
  feedback: false,
  unknownPeople: false,
  nearMissCrops: false,
  matchDays: false,
  billing: true,
}

export type ProjectSwitches = {
  /** Whether svc.attributes and svc.analyze return the gender of faces. */
  readonly gender: boolean
  /** Whether svc.attributes and svc.analyze return the expression of faces. */
  readonly expression: boolean
  /** Whether enrolled faces are stored with a crop, so that a later model can embed them again. */
  readonly storeCrops: boolean
  /** Whether svc.verify may enroll the probe for a subject that has templates of former models only. */
  readonly autoEnroll: boolean
  /** Whether matches of svc.identify can be confirmed or denied: see POST /v1/feedback. */
  readonly feedback: boolean
  /** Whether svc.identify stores people that match no subject, as visitors. */
  readonly unknownPeople: boolean
  /** Whether the faces of near misses are kept for `nearMissHours`. */
  readonly nearMissCrops: boolean
  /** Whether the calls that match a subject are counted by day, for 90 days. */
  readonly matchDays: boolean
  /** Whether calls are charged to the budget. If not, they are metered in the request log only. */
  readonly billing: boolean
}

/** The switches as columns of `projects`. */
export type SwitchColumns = { readonly [name in keyof ProjectSwitches]: 0 | 1 }

export const switchNames = Object.keys(defaultSwitches) as readonly (keyof ProjectSwitches)[]

export function switchesFromColumns(row: SwitchColumns): ProjectSwitches {
  // `switchNames` contains every name.
  return Object.fromEntries(switchNames.map((name) => [name, row[name] === 1])) as ProjectSwitches
}

/** Returns the columns that a change of switches writes. */
export function columnsFromSwitches(change: Partial<ProjectSwitches>): Partial<SwitchColumns> {
  return Object.fromEntries(
    switchNames.flatMap((name) =>
      change[name] === undefined ? [] : [[name, change[name] ? 1 : 0]],
    ),
  )
}
