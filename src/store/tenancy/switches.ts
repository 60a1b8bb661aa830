export type ProjectSwitches = Readonly<typeof defaultSwitches>

/** The switches of a new project. */
export const defaultSwitches = {
  /** Whether svc.attributes and svc.analyze return the gender of faces. */
  gender: true,
  /** Whether svc.attributes and svc.analyze return the expression of faces. */
  expression: true,
  /** Whether enrolled faces are stored with a crop, so that a later model can embed them again. */
  storeCrops: false,
  /** Whether svc.verify may enroll the probe for a subject that has templates of former models only. */
  autoEnroll: false,
  /** Whether matches of svc.identify can be confirmed or denied: see POST /v1/feedback. */
  feedback: false,
  /** Whether svc.identify stores people that match no subject, as visitors. */
  unknownPeople: false,
  /** Whether the faces of near misses are kept for `nearMissHours`. */
  nearMissCrops: false,
  /** Whether the calls that match a subject are counted by day, for 90 days. */
  matchDays: false,
  /** Whether calls are charged to the budget. If not, they are metered in the request log only. */
  billing: true,
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
