import { z } from 'zod'
import type { Action } from '../../src/actions/action.ts'
import { allActions } from '../../src/actions/all.ts'
import { paramsOf } from '../../src/actions/params-of.ts'
import { restRoutes } from '../../src/http/routes/all.ts'
import { errorTable } from '../../src/lib/errors.ts'
import { objectType, typeOf, type Access, type Schema } from './type-of.ts'

/**
 * The text of `client/src/contract.ts`: the types of the wire, and which methods the actions make.
 * It follows the records of the service, so that nothing is written twice and the client can be
 * published without them.
 */
export function contractSource(): string {
  return `${[head, ...declarations(), actionsType(), oneImage(), errorCodes()].join('\n\n')}\n`
}

const head = `// Written by \`npm run contract\` from the schemas of the service: change those instead.
// oxlint-disable max-lines -- one file for the whole contract`

/** Named parts first as they are met, each once. */
function declarations(): string[] {
  const done = new Map<string, string>()
  const declare = (name: string, type: z.ZodType, io: 'input' | 'output'): void => {
    const { $defs = {}, ...schema } = z.toJSONSchema(type, { io })
    const access: Access = io === 'input' ? 'readonly' : 'mutable'
    // Zod's schemas are wider than what is read of them here.
    const parts = Object.entries($defs as Readonly<Record<string, Schema>>)
    for (const [id, part] of parts) keep(done, id, interfaceOf(id, part, access))
    const isNamed = '$ref' in schema
    if (!isNamed) keep(done, name, interfaceOf(name, schema as Schema, access))
  }
  for (const { name, params, value } of allActions) {
    declare(`${typeName(name)}Params`, params, 'input')
    declare(`${typeName(name)}Value`, value, 'output')
  }
  for (const { name, query, value } of restRoutes) {
    if (!isEmpty(query)) declare(`${capital(name)}Query`, query, 'input')
    declare(`${capital(name)}Answer`, value, 'output')
  }
  return [...done.values()]
}

function isEmpty(query: z.ZodType): boolean {
  return Object.keys(z.toJSONSchema(query, { io: 'input' }).properties ?? {}).length === 0
}

/** @throws Error when a part is both sent and answered and would have two forms. */
function keep(done: Map<string, string>, id: string, text: string): void {
  const known = done.get(id)
  if (known !== undefined && known !== text) throw new Error(`${id} has two forms`)
  done.set(id, text)
}

function interfaceOf(name: string, schema: Schema, access: Access): string {
  if (schema.$ref !== undefined) return `export type ${name} = ${typeOf(schema, access)}`
  return `export interface ${name} ${objectType(schema, access)}`
}

function actionsType(): string {
  const lines = allActions.map(
    ({ name }) => `  '${name}': { params: ${typeName(name)}Params; value: ${typeName(name)}Value }`,
  )
  return `/** What each action takes and answers. */\nexport interface Actions {\n${lines.join('\n')}\n}`
}

/** The actions about one image differ in nothing but their types: their methods are made alike. */
function oneImage(): string {
  const actions = allActions.filter(readsOneImage)
  const methods = actions.map((action) => {
    const { name } = action
    return `  /** ${action.summary} ${priceOf(action)} */\n  ${bare(name)}: Actions['${name}']`
  })
  const names = actions.map(({ name }) => `  ${bare(name)}: '${name}',`)
  return `/** The actions that read one image, by the name of their method. */
export interface OneImageActions {
${methods.join('\n')}
}

export const oneImageActions = {
${names.join('\n')}
} as const`
}

function readsOneImage(action: Action): boolean {
  return paramsOf(action).properties['images']?.prefixItems !== undefined
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
const bare = (name: string): string => name.slice(name.indexOf('.') + 1)

const typeName = (name: string): string => capital(bare(name))

const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)
