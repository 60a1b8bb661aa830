import { execFileSync, spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'

/** One request, to be sent several times. */
export type RepeatedRequest = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly count: number
  /** A folder for the files of the client. */
  readonly folder: string
}

/** A client that sends requests one after the other and reuses its connection. */
export type SequentialClient = {
  readonly name: string
  /** The reason why the client cannot run here. */
  readonly skip: string | false
  /** Returns the status of each response, or the error that was reported instead. */
  readonly send: (request: RepeatedRequest) => Promise<readonly string[]>
}

const require = createRequire(import.meta.url)

/** The HTTP clients that callers use most: of Node, of browsers, of the shell and of Python. */
export const sequentialClients: readonly SequentialClient[] = [
  { name: 'fetch', skip: false, send: sendByFetch },
  { name: 'axios', skip: false, send: sendByAxios },
  { name: 'curl', skip: findMissing('curl'), send: sendByCurl },
  { name: 'python3', skip: findMissing('python3'), send: sendByPython },
]

function findMissing(program: string): string | false {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return false
  } catch {
    return `${program} is not installed`
  }
}

async function sendByFetch({ url, headers, body, count }: RepeatedRequest) {
  return repeat(count, async () => {
    const response = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) })
    await response.arrayBuffer()
    return response.status
  })
}

type Axios = {
  readonly post: (
    url: string,
    body: Buffer,
    options: object,
  ) => Promise<{ readonly status: number }>
}

/** The axios that the SDK of CompreFace uses. */
async function sendByAxios({ url, headers, body, count }: RepeatedRequest) {
  const axios = createRequire(require.resolve('@exadel/compreface-js-sdk'))('axios') as Axios
  const options = { headers, validateStatus: () => true, maxBodyLength: Infinity }
  return repeat(count, async () => (await axios.post(url, body, options)).status)
}

async function repeat(count: number, send: () => Promise<number>): Promise<readonly string[]> {
  const outcomes: string[] = []
  for (let sent = 0; sent < count; sent++) outcomes.push(await send().then(String, describeError))
  return outcomes
}

function describeError(error: unknown): string {
  const { cause = error } = error as Error
  return String((cause as { readonly code?: string }).code ?? cause)
}

/** One process sends all requests, because each new process would open a new connection. */
async function sendByCurl({ url, headers, body, count, folder }: RepeatedRequest) {
  const bodyFile = path.join(folder, 'curl.body')
  await writeFile(bodyFile, body)
  const request = [
    `url = "${url}"`,
    ...Object.entries(headers).map(([name, value]) => `header = "${name}: ${value}"`),
    'header = "Expect:"',
    `data-binary = "@${bodyFile}"`,
    'output = "/dev/null"',
    String.raw`write-out = "%{http_code} %{errormsg}\n"`,
  ].join('\n')
  const configFile = path.join(folder, 'curl.config')
  await writeFile(configFile, Array.from({ length: count }, () => request).join('\nnext\n'))
  return readLines('curl', ['--silent', '--config', configFile])
}

const pythonClient = `
import http.client, json, sys
from urllib.parse import urlsplit
request = json.load(open(sys.argv[1]))
url, body = urlsplit(request["url"]), open(sys.argv[2], "rb").read()
connection = http.client.HTTPConnection(url.hostname, url.port, timeout=60)
for _ in range(request["count"]):
    try:
        connection.request("POST", url.path, body, request["headers"])
        response = connection.getresponse()
        response.read()
        print(response.status)
    except Exception as error:
        connection.close()
        print(type(error).__name__)
`

async function sendByPython({ body, folder, ...request }: RepeatedRequest) {
  const [bodyFile, requestFile] = ['python.body', 'python.json'].map((name) =>
    path.join(folder, name),
  ) as [string, string]
  await writeFile(bodyFile, body)
  await writeFile(requestFile, JSON.stringify(request))
  return readLines('python3', ['-c', pythonClient, requestFile, bodyFile])
}

async function readLines(program: string, parameters: readonly string[]) {
  const child = spawn(program, parameters, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
  return output
    .trim()
    .split('\n')
    .map((line) => line.trim())
}
