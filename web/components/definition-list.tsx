import type { ReactNode } from 'react'

type Props = { readonly items: Readonly<Record<string, ReactNode>> }

/** A list of names and values. */
export function DefinitionList({ items }: Props) {
  return (
    <dl className="fg-definitions">
      {Object.entries(items).map(([name, value]) => (
        <Definition key={name} name={name} value={value} />
      ))}
    </dl>
  )
}

function Definition({ name, value }: { readonly name: string; readonly value: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  )
}
