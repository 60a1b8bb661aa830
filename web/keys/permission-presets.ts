import type { ConsolePermission } from '../api/responses.ts'

/** A set of permissions for a common kind of program. */
export type PermissionPreset = {
  readonly name: string
  readonly purpose: string
  /** Returns the permissions of the preset, of all that exist. */
  readonly select: (all: readonly string[]) => readonly string[]
}

/** Other permissions than actions, which a preset contains only if it names them. */
const special: ReadonlySet<string> = new Set(['debug', 'faces:force', '*'])

const ordinary = (all: readonly string[]): readonly string[] =>
  all.filter((permission) => !special.has(permission))

/** The permissions to delete subjects: `deletions:read` only reads. */
const deletions: ReadonlySet<string> = new Set(['svc.deleteSubject', 'groups:delete'])

const isDeletion = (permission: string): boolean => deletions.has(permission)

/** The permissions that exist of these. */
const only =
  (...names: readonly string[]) =>
  (all: readonly string[]): readonly string[] =>
    all.filter((permission) => names.includes(permission))

export const permissionPresets: readonly PermissionPreset[] = [
  {
    name: 'Kiosk: identify only',
    purpose: 'Finds the person in front of a camera. It can neither read nor change the gallery.',
    select: only('svc.identify'),
  },
  {
    name: 'Access with liveness check',
    purpose: 'Checks that a person is live, then identifies or verifies the person.',
    select: only('svc.liveness', 'svc.identify', 'svc.verify'),
  },
  {
    name: 'Enrollment terminal',
    purpose:
      'Checks pictures and enrolls or updates subjects. It cannot remove faces or shorten an expiry.',
    select: only('svc.detect', 'svc.analyze', 'svc.liveness', 'svc.enroll', 'svc.updateSubject'),
  },
  {
    name: 'Read and analyze only',
    purpose: 'Analyzes, searches and lists. It cannot enroll, change or delete subjects.',
    select: only(
      'svc.analyze',
      'svc.attributes',
      'svc.detect',
      'svc.identify',
      'svc.liveness',
      'svc.verify',
      'subjects:read',
      'deletions:read',
    ),
  },
  {
    name: 'All actions except deletion',
    purpose: 'The actions of the API. Lists of subjects and deletions are not included.',
    select: (all) => all.filter((name) => name.startsWith('svc.') && !isDeletion(name)),
  },
  {
    name: 'Everything except deletion',
    purpose: 'All actions and routes that do not delete.',
    select: (all) => ordinary(all).filter((permission) => !isDeletion(permission)),
  },
  {
    name: 'Everything, with deletion',
    purpose: 'All actions and routes. The program can delete subjects permanently.',
    select: ordinary,
  },
]

/** The preset of a new key. */
const defaultPreset = 'All actions except deletion'

/** Returns the permissions that a new key has by default. */
export function defaultPermissions(all: readonly ConsolePermission[]): readonly string[] {
  const names = all.map(({ permission }) => permission)
  return permissionPresets.find(({ name }) => name === defaultPreset)?.select(names) ?? []
}

/** Returns the preset with exactly these permissions; undefined if there is none. */
export function presetOf(
  permissions: readonly string[],
  all: readonly ConsolePermission[],
): PermissionPreset | undefined {
  const selected = new Set(permissions)
  const names = all.map(({ permission }) => permission)
  return permissionPresets.find(
    ({ select }) => new Set(select(names)).symmetricDifference(selected).size === 0,
  )
}
