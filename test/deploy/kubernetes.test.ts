import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { rootDir } from '../support/paths.ts'

const folder = path.join(rootDir, 'deploy', 'kubernetes')

const manifest = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
})
type KubernetesManifest = z.output<typeof manifest>

/** The names of the modules and types of kubernetes-types for the kinds of the manifests. */
const schemas: Readonly<Record<string, string>> = {
  'v1 ConfigMap': 'core/v1',
  'v1 Secret': 'core/v1',
  'v1 Service': 'core/v1',
  'apps/v1 Deployment': 'apps/v1',
  'autoscaling/v2 HorizontalPodAutoscaler': 'autoscaling/v2',
  'networking.k8s.io/v1 Ingress': 'networking/v1',
  'networking.k8s.io/v1 NetworkPolicy': 'networking/v1',
  'policy/v1 PodDisruptionBudget': 'policy/v1',
}

const parseManifests = (text: string): KubernetesManifest[] =>
  parseAllDocuments(text).map((document) => manifest.parse(document.toJS()))

async function readManifests(): Promise<KubernetesManifest[]> {
  const { resources } = z
    .object({ resources: z.array(z.string()) })
    .parse(parse(await readFile(path.join(folder, 'kustomization.yaml'), 'utf8')))
  const texts = [...resources, 'secret.example.yaml'].map((file) =>
    readFile(path.join(folder, file), 'utf8'),
  )
  return (await Promise.all(texts)).flatMap(parseManifests)
}

/**
 * Returns what the types of Kubernetes refuse: unknown fields, missing ones and values of another type.
 * The compiler checks each manifest as an object of its type.
 */
async function findProblems(manifests: readonly KubernetesManifest[]): Promise<string> {
  const project = await mkdtemp(path.join(tmpdir(), 'facegate-kubernetes-'))
  try {
    await symlink(path.join(rootDir, 'node_modules'), path.join(project, 'node_modules'))
    const lines = manifests.map((one) => {
      const from = schemas[`${one.apiVersion} ${one.kind}`]
      assert.ok(from, `${one.apiVersion} ${one.kind} has no schema in this test`)
      const type = `import('kubernetes-types/${from}').${one.kind}`
      return `(${JSON.stringify(one)}) satisfies ${type}`
    })
    await writeFile(path.join(project, 'manifests.ts'), `${lines.join('\n;')}\nexport {}\n`)
    const tsc = path.join(rootDir, 'node_modules', '.bin', 'tsc')
    const options = ['--noEmit', '--strict', '--module', 'esnext', '--moduleResolution', 'bundler']
    const args = [...options, '--types', '', '--skipLibCheck', 'manifests.ts']
    return spawnSync(tsc, args, { cwd: project, encoding: 'utf8' }).stdout
  } finally {
    await rm(project, { recursive: true })
  }
}

test('Each Kubernetes manifest has only the fields of its schema, with their types', async () => {
  const manifests = await readManifests()
  assert.ok(manifests.length >= 8)
  assert.equal(await findProblems(manifests), '')
})

test('A misspelled field and a value of another type are found', async () => {
  const deployment = (await readManifests()).find(({ kind }) => kind === 'Deployment')
  const text = JSON.stringify(deployment)
  const faults = new Map([
    [text.replace('"readinessProbe"', '"readynessProbe"'), /readynessProbe/u],
    [text.replace('"runAsNonRoot":true', '"runAsNonRoot":"yes"'), /runAsNonRoot|boolean/u],
  ])
  for (const [wrong, problem] of faults) {
    assert.notEqual(wrong, text)
    assert.match(await findProblems([manifest.parse(JSON.parse(wrong))]), problem)
  }
})

const kubectl = spawnSync('kubectl', ['version', '--client'])
const skip = kubectl.status === 0 ? false : 'kubectl is not installed'

test('kubectl renders the manifests with the image of the kustomization', { skip }, async () => {
  const rendered = parseManifests(
    execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8' }),
  )
  assert.deepEqual(
    rendered.map(({ kind }) => kind).sort(),
    (await readManifests())
      .map(({ kind }) => kind)
      .filter((kind) => kind !== 'Secret')
      .sort(),
  )
  assert.equal(await findProblems(rendered), '')
  assert.match(JSON.stringify(rendered), /"image":"registry\.example\.org\/facegate:0\.1\.0"/u)
})
