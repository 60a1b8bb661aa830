import { Text } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { packOf, type ModelRow } from './model-rows.ts'

const fullTexts = {
  'Apache-2.0': lazyText(async () => import('../../../LICENSE?raw')),
  MIT: lazyText(async () => import('../../../node_modules/@vladmandic/human/LICENSE?raw')),
}

function lazyText(load: () => Promise<{ readonly default: string }>) {
  return lazy(async () => {
    const { default: text } = await load()
    return {
      default: () => (
        <pre className="fg-code" tabIndex={0} aria-label="Text of the licence">
          {text.trim()}
        </pre>
      ),
    }
  })
}

/** Each licence of the networks once, with its full text where the licence is a standard one. */
export function Licences({ models }: { readonly models: readonly ModelRow[] }) {
  const byLicence = Map.groupBy(models, licenceNameOf)
  return [...byLicence].map(([name, licensed]) => (
    <section key={name} aria-label={`Licence ${name}`} className="fg-licence">
      <Text fw={600} size="sm">
        {name}
      </Text>
      <LicenceStatements models={licensed} />
      <LicenceText name={name} />
    </section>
  ))
}

/** The packages of the built-in networks state MIT in a longer sentence. */
function licenceNameOf({ licence }: ModelRow): string {
  return licence.startsWith('MIT ') ? 'MIT' : licence
}

/** What the sources of the networks state, each statement once. */
function LicenceStatements({ models }: { readonly models: readonly ModelRow[] }) {
  const statements = Map.groupBy(models, (model) =>
    [
      model.licence === licenceNameOf(model) ? undefined : model.licence,
      model.note,
      `Commercial use: ${model.commercialUse}`,
    ]
      .flatMap((part) => (part === undefined ? [] : [part.replace(/\.$/u, '')]))
      .join('. '),
  )
  return [...statements].map(([statement, stated]) => (
    <Text key={statement} size="sm">
      <span className="fg-mono">{stated.map(({ model }) => model).join(', ')}</span>: {statement}.
    </Text>
  ))
}

/** The text is loaded when it is opened. */
function LicenceText({ name }: { readonly name: string }) {
  if (name !== 'Apache-2.0' && name !== 'MIT')
    return (
      <Text size="sm" c="dimmed">
        The source states no more than this. Ask its author before commercial use.
      </Text>
    )
  const FullText = fullTexts[name]
  return (
    <details>
      <summary>Full text</summary>
      {name === 'MIT' && (
        <Text size="xs" c="dimmed">
          The line of the copyright is that of the built-in networks; other sources have their own.
        </Text>
      )}
      <Suspense fallback={null}>
        <FullText />
      </Suspense>
    </details>
  )
}

/** The size of a pack in bytes, or null if a network has no known size. */
export function packBytes(models: readonly ModelRow[], pack: string): number | null {
  const sizes = models.filter((model) => packOf(model) === pack).map(({ bytes }) => bytes)
  return sizes.includes(null) ? null : sizes.reduce<number>((sum, bytes) => sum + (bytes ?? 0), 0)
}
