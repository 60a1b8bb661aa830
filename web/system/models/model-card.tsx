import { Text } from '@mantine/core'
import { DefinitionList } from '../../components/definition-list.tsx'
import { formatBytes } from '../../format/numbers.ts'
import type { ModelRow } from './model-rows.ts'

/** The facts of a network: origin, licence, training data, figures and limits. */
export function ModelCard({ model }: { readonly model: ModelRow }) {
  const { licence, note, commercialUse, provenance, notFor, sha256, bytes, version } = model
  return (
    <>
      <DefinitionList
        items={{
          Roles: model.roles.join(', '),
          Version: version,
          Licence: note === undefined ? licence : `${licence} (${note.replace(/\.$/u, '')})`,
          'Commercial use': commercialUse,
          Origin: provenance.origin,
          'Training data': provenance.trainingData,
          ...(notFor !== undefined && { 'Do not use for': notFor }),
          Size: bytes === null ? 'unknown' : formatBytes(bytes),
          'SHA-256': <span className="fg-mono">{sha256 ?? 'recorded by the installation'}</span>,
        }}
      />
      <ModelFigures model={model} />
    </>
  )
}

/** The stored measurements of a network. */
export function ModelFigures({ model: { measured } }: { readonly model: ModelRow }) {
  if (measured.length === 0)
    return (
      <Text size="sm" c="dimmed">
        No figures are stored.
      </Text>
    )
  return (
    <ul className="fg-figures">
      {measured.map(({ what, on, value, how }) => (
        <li key={`${what} ${on}`}>
          <strong>{value}</strong> {what}
          <Text size="xs" c="dimmed">
            on {on} ({how})
          </Text>
        </li>
      ))}
    </ul>
  )
}
