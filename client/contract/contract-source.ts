import { z } from 'zod'
import type { Action } from '../../src/actions/action.ts'
import { allActions } from '../../src/actions/all-actions.ts'
import { toParamsSchema } from '../../src/actions/schemas/json-schema.ts'
import { restRoutes } from '../../src/http/routes/rest-routes.ts'
import { errorTable } from '../../src/lib/errors.ts'
import {
  objectTypeOf,
  typescriptTypeOf,
  type PropertyAccess,
  type ContractSchema,
} from './typescript-type.ts'

/**
 * The text of `client/src/contract.ts`: the types of the wire, and which methods the actions make.
 * It follows the records of the service, so that nothing is written twice and the client can be
 * published without them.
 */
export function contractSource(): string {
  return `${[header, ...declarations(), actionsType(), oneImageDeclarations(), errorCodes()].join('\n\n')}\n`
}

const header = `// Written by \`npm run contract\` from the schemas of the service: change those instead.
// oxlint-disable max-lines -- one file for the whole contract`

/** Named parts first as they are met, each once. */
function declarations(): string[] {
  const done = new Map<string, string>()
  const declare = (name: string, type: z.ZodType, io: 'input' | 'output'): void => {
    const { $defs = {}, ...schema } = z.toJSONSchema(type, { io })
    const access: PropertyAccess = io === 'input' ? 'readonly' : 'mutable'
    // Zod's schemas are wider than what is read of them here.
    const parts = Object.entries($defs as Readonly<Record<string, ContractSchema>>)
    for (const [id, part] of parts) addDeclaration(done, id, interfaceOf(id, part, access))
    const isNamed = '$ref' in schema
    if (!isNamed) addDeclaration(done, name, interfaceOf(name, schema as ContractSchema, access))
  }
  for (const { name, params, value } of allActions) {
    declare(`${typeName(name)}Params`, params, 'input')
    declare(`${typeName(name)}Value`, value, 'output')
  }
  for (const { name, query, value } of restRoutes) {
    if (!isEmpty(query)) declare(`${capitalize(name)}Query`, query, 'input')
    declare(`${capitalize(name)}Answer`, value, 'output')
  }
  return [...done.values()]
}

function isEmpty(query: z.ZodType): boolean {
  return Object.keys(z.toJSONSchema(query, { io: 'input' }).properties ?? {}).length === 0
}

/** @throws Error when a part is both sent and answered and would have two forms. */
function addDeclaration(done: Map<string, string>, id: string, text: string): void {
  const known = done.get(id)
  if (known !== undefined && known !== text) throw new Error(`${id} has two forms`)
  done.set(id, text)
}

function interfaceOf(name: string, schema: ContractSchema, access: PropertyAccess): string {
  if (schema.$ref !== undefined) return `export type ${name} = ${typescriptTypeOf(schema, access)}`
  return `export interface ${name} ${objectTypeOf(schema, access)}`
}

function actionsType(): string {
  const lines = allActions.map(
    ({ name }) => `  '${name}': { params: ${typeName(name)}Params; value: ${typeName(name)}Value }`,
  )
  return `/** What each action takes and answers. */\nexport interface Actions {\n${lines.join('\n')}\n}`
}

/** The actions about one image differ in nothing but their types: their methods are made alike. */
function oneImageDeclarations(): string {
  const actions = allActions.filter(takesOneImage)
  const methods = actions.map((action) => {
    const { name } = action
    return `  /** ${action.summary} ${priceOf(action)} */\n  ${methodName(name)}: Actions['${name}']`
  })
  const names = actions.map(({ name }) => `  ${methodName(name)}: '${name}',`)
  return `/** The actions that read one image, by the name of their method. */
export interface OneImageActions {
${methods.join('\n')}
}

export const oneImageActions = {
${names.join('\n')}
} as const`
}

function takesOneImage(action: Action): boolean {
  return toParamsSchema(action).properties['images']?.prefixItems !== undefined
}

function priceOf({ price }: Action): string {
  const units = price(1)
  if (units === 0) return 'Free.'
  return `Costs ${units} unit${units === 1 ? '' : 's'}.`
}

function errorCodes(): string {
  const lines = Object.entries(errorTable).map(([code]) => `  | '${code}'`)
  return `/** The codes of the service; its documentation says what to do about each. */
export type ErrorCode =
${lines.join('\n')}`
}

/** `svc.deleteSubject` → `deleteSubject`. */
const methodName = (name: string): string => name.slice(name.indexOf('.') + 1)

const typeName = (name: string): string => capitalize(methodName(name))

const capitalize = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)
