import type { ContractRoute } from './contract.ts'
import { exampleBlocks, type ExampleTexts } from './example-blocks.ts'

const origin = 'http://127.0.0.1:8080'

/** The calls of a route with the clients. Other routes are called with the library of the language. */
type ClientCalls = Omit<ExampleTexts, 'curl'>

const clientCalls: Readonly<Record<string, ClientCalls>> = {
  execute: {
    typescript: `const { faces } = await facegate.detect('photo.jpg')
console.log(faces.length)`,
    python: `print(facegate.detect("photo.jpg")["faceCount"])`,
  },
  listSubjects: {
    typescript: `for await (const { subjectId, externalId } of facegate.subjects.list({ group: 'staff' }))
  console.log(subjectId, externalId)`,
    python: `for subject in facegate.subjects.list(group="staff"):
    print(subject["subjectId"], subject["externalId"])`,
  },
  getSubject: {
    typescript: `const subject = await facegate.subjects.get(process.env['SUBJECT_ID'] ?? '')
console.log(subject.externalId, subject.groups)`,
    python: `subject = facegate.subjects.get(os.environ["SUBJECT_ID"])
print(subject["externalId"], subject["groups"])`,
  },
  listGroups: {
    typescript: `for await (const { name, subjectCount } of facegate.groups.list())
  console.log(name, subjectCount)`,
    python: `for group in facegate.groups.list():
    print(group["name"], group["subjectCount"])`,
  },
  deleteGroup: {
    typescript: `const { deletedCount } = await facegate.groups.delete('visitors', { dryRun: true })
console.log(deletedCount)`,
    python: `print(facegate.groups.delete("visitors", dry_run=True)["deletedCount"])`,
  },
  listDeletions: {
    typescript: `for await (const { subjectId, deletedAtUtc } of facegate.deletions.list())
  console.log(subjectId, deletedAtUtc)`,
    python: `for record in facegate.deletions.list():
    print(record["subjectId"], record["deletedAtUtc"])`,
  },
  createLivenessSession: {
    typescript: `const { sessionId, steps } = await facegate.livenessSessions.create({ steps: 3 })
console.log(sessionId, steps)`,
    python: `session = facegate.liveness_sessions.create(steps=3)
print(session["sessionId"], session["steps"])`,
  },
  getLivenessSession: {
    typescript: `const { state } = await facegate.livenessSessions.get(process.env['SESSION_ID'] ?? '')
console.log(state)`,
    python: `print(facegate.liveness_sessions.get(os.environ["SESSION_ID"])["state"])`,
  },
  getMe: {
    typescript: `const { project, permissions } = await facegate.me()
console.log(project.name, permissions)`,
    python: `me = facegate.me()
print(me["project"]["name"], me["permissions"])`,
  },
}

/** The query of an example. */
const queries: Readonly<Record<string, string>> = {
  listSubjects: '?group=staff&limit=20',
  deleteGroup: '?dryRun=true',
  listVisitors: '?sort=-visits&limit=20',
}

/** The body of an example as JSON. */
const bodies: Readonly<Record<string, string>> = {
  renameGroup: '{"name":"employees"}',
  sendFeedback: '{"requestId":"0b9f1f9c-2e0e-4a7e-9d57-3c4b8a1d2e3f","verdict":"deny"}',
  promoteVisitor: '{"groups":["employees"]}',
  mergeVisitor: '{"subjectId":"0b9f1f9c-2e0e-4a7e-9d57-3c4b8a1d2e3f"}',
  ignoreVisitor: '{"ignored":true}',
  createLivenessSession: '{"steps":3}',
}

/** Names in paths. Other parts of paths are ids, which the examples read from variables. */
const pathValues: Readonly<Record<string, string>> = {
  deleteGroup: 'visitors',
  renameGroup: 'staff',
}

/** An origin that the project permits, in the call of a page. */
const pageOrigin = 'https://app.example.org'

/** Calls with an image in their body. */
const imageActions: Readonly<Record<string, string>> = {
  execute: 'svc.detect',
  sendLivenessFrames: 'svc.liveness',
}

/** Returns the example call of a route in three languages, as tabs. */
export function exampleTabs(route: ContractRoute): string {
  const texts = { curl: curlOf(route), typescript: typescriptOf(route), python: pythonOf(route) }
  return exampleBlocks(texts, 'test/docs/route-examples.test.ts runs it')
}

function curlOf(route: ContractRoute): string {
  const { method, operationId } = route
  const address = addressOf(route, (name) => `$${variableOf(name)}`)
  const header = isForBrowsers(route)
    ? `"X-Session-Token: $SESSION_TOKEN" -H "Origin: ${pageOrigin}"`
    : '"X-Api-Key: $KEY"'
  const action = imageActions[operationId]
  if (action !== undefined)
    return `printf '{"action":"${action}","params":{"images":[{"kind":"image","contentType":"image/jpeg","bytes":"%s"}]}}' \\
  "$(base64 < photo.jpg | tr -d '\\n')" |
  curl -sS "${address}" -H ${header} -H 'Content-Type: application/json' --data-binary @-`
  const body = bodies[operationId]
  const sent = body === undefined ? '' : ` \\\n  -H 'Content-Type: application/json' -d '${body}'`
  const verb = method === 'GET' || body !== undefined ? '' : `-X ${method} `
  return `curl -sS ${verb}"${address}" -H ${header}${sent}`
}

function typescriptOf(route: ContractRoute): string {
  const call = clientCalls[route.operationId]
  if (call)
    return `import { createClient } from 'facegate-client'

const facegate = createClient({ baseUrl: '${origin}', apiKey: process.env['KEY'] ?? '' })
${call.typescript}`
  const address = addressOf(route, (name) => `\${process.env['${variableOf(name)}']}`)
  const quote = address.includes('$') ? '`' : "'"
  const [header, variable] = credentialOf(route)
  const action = imageActions[route.operationId]
  const body =
    action === undefined
      ? bodies[route.operationId]
          ?.replaceAll(/"(\w+)":/gu, '$1: ')
          .replaceAll(',', ', ')
          .replaceAll(/\{(.*)\}/gu, '{ $1 }')
          .replaceAll('"', "'")
      : `{ action: '${action}', params: { images: [{ kind: 'image', contentType: 'image/jpeg', bytes }] } }`
  return `${action === undefined ? '' : imageReader}const response = await fetch(${quote}${address}${quote}, {
  method: '${route.method}',
  headers: {
    '${header}': process.env['${variable}'] ?? '',${isForBrowsers(route) ? `\n    Origin: '${pageOrigin}', // a browser sends it itself` : ''}
    'Content-Type': 'application/json',
  },${body === undefined ? '' : `\n  body: JSON.stringify(${body}),`}
})
console.log(response.status, await response.json())`
}

const imageReader = `import { readFile } from 'node:fs/promises'

const bytes = await readFile('photo.jpg', 'base64')
`

function pythonOf(route: ContractRoute): string {
  const call = clientCalls[route.operationId]
  if (call)
    return `import os
from facegate import Client

facegate = Client("${origin}", os.environ["KEY"])
${call.python}`
  const address = addressOf(route, (name) => `{os.environ['${variableOf(name)}']}`)
  const [header, variable] = credentialOf(route)
  const action = imageActions[route.operationId]
  const image = `{"kind": "image", "contentType": "image/jpeg", "bytes": image}`
  const body =
    action === undefined
      ? bodies[route.operationId]
          ?.replaceAll('":', '": ')
          .replaceAll(',', ', ')
          .replaceAll('true', 'True')
      : `{"action": "${action}", "params": {"images": [${image}]}}`
  const imports = [...(action === undefined ? [] : ['base64']), 'json', 'os', 'urllib.request']
  const reader =
    action === undefined
      ? ''
      : `with open("photo.jpg", "rb") as file:
    image = base64.b64encode(file.read()).decode()
`
  return `${imports.map((name) => `import ${name}`).join('\n')}

${reader}request = urllib.request.Request(
    ${address.includes('{') ? 'f' : ''}"${address}",
    method="${route.method}",
    headers={
        "${header}": os.environ["${variable}"],
        "Content-Type": "application/json",${isForBrowsers(route) ? `\n        "Origin": "${pageOrigin}",` : ''}
    },${body === undefined ? '' : `\n    data=json.dumps(${body}).encode(),`}
)
with urllib.request.urlopen(request) as response:
    print(response.status, json.load(response))`
}

function isForBrowsers({ parameters }: ContractRoute): boolean {
  return parameters.some(({ name }) => name === 'X-Session-Token')
}

function credentialOf(route: ContractRoute): readonly [header: string, variable: string] {
  return isForBrowsers(route) ? ['X-Session-Token', 'SESSION_TOKEN'] : ['X-Api-Key', 'KEY']
}

/** @param placeholderOf returns the text that inserts a variable. */
function addressOf(route: ContractRoute, placeholderOf: (name: string) => string): string {
  const { path, operationId } = route
  const filled = path.replaceAll(
    /\{(\w+)\}/gu,
    (_part, name: string) => pathValues[operationId] ?? placeholderOf(name),
  )
  return `${origin}${filled}${queries[operationId] ?? ''}`
}

/** `subjectId` → `SUBJECT_ID`. */
function variableOf(name: string): string {
  return name.replaceAll(/[A-Z]/gu, (letter) => `_${letter}`).toUpperCase()
}
