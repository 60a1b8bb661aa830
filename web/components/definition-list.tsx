import type { ReactNode } from 'react'

/** Names and values, one pair a line. */
export function DefinitionList({ facts }: { readonly facts: Readonly<Record<string, ReactNode>> }) {
  return (
    <dl className="fg-facts">
      {Object.entries(facts).map(([name, value]) => (
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
