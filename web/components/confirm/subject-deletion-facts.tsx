import { EffectList } from './losses.tsx'

type Props = {
  /** The subjects: one by default. */
  readonly isMany?: boolean
}

/** States what the deletion of subjects removes, and exactly what the deletion ledger keeps. */
export function SubjectDeletionFacts({ isMany = false }: Props) {
  const ids = isMany ? 'ids' : 'id'
  return (
    <>
      <EffectList
        title="Deleted permanently"
        items={[
          `every template and stored crop, and the encryption key of the ${isMany ? 'subjects' : 'subject'}`,
          'the display name, the attributes and the group memberships',
          'the data in stored responses of earlier calls',
        ]}
      />
      <EffectList
        title="Kept in the deletion ledger, permanently"
        items={[
          `the subject ${ids}, and the external ${ids} if set`,
          'the names of the groups, the number of templates and the time of the deletion',
          'the id of the record, the ids of the gallery and the account, and the hash that protects the record from changes',
        ]}
      />
      <p>
        The ledger contains no image, template, display name or attribute. The deletion takes effect
        at once and cannot be undone.
      </p>
    </>
  )
}
