import type { ReadTx } from '../tx.ts'

/** What a project switches on and off, and how it begins. */
export const defaultSwitches: ProjectSwitches = {
  gender: true,
  expression: true,
  storeCrops: false,
  adopt: false,
}

export type ProjectSwitches = {
  /** Whether svc.attributes and svc.analyze tell the gender of faces. */
  readonly gender: boolean
  /** The same of their expression. */
  readonly expression: boolean
  /** Whether faces are stored with a crop of their picture, to be described by later models. */
  readonly storeCrops: boolean
  /** Whether svc.verify may add the probe to a subject that only former models know. */
  readonly adopt: boolean
}

/** As columns of `projects`. */
export type SwitchColumns = { readonly [name in keyof ProjectSwitches]: 0 | 1 }

export const switchNames = ['gender', 'expression', 'storeCrops', 'adopt'] as const

export function switchesFromColumns(row: SwitchColumns): ProjectSwitches {
  const { gender, expression, storeCrops, adopt } = row
  return {
    gender: gender === 1,
    expression: expression === 1,
    storeCrops: storeCrops === 1,
    adopt: adopt === 1,
  }
}

/** What a change of switches writes. */
export function columnsFromSwitches(change: Partial<ProjectSwitches>): Partial<SwitchColumns> {
  return Object.fromEntries(
    switchNames.flatMap((name) =>
      change[name] === undefined ? [] : [[name, change[name] ? 1 : 0]],
    ),
  )
}

/** As they are at this moment. */
export async function findProjectSwitches(
  { build, run }: ReadTx,
  projectId: string,
): Promise<ProjectSwitches> {
  const [row] = await run(
    build.selectFrom('projects').select(switchNames).where('projectId', '=', projectId),
  )
  return row ? switchesFromColumns(row) : defaultSwitches
}
