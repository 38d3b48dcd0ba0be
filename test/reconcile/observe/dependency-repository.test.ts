import { describe, expect, it } from 'vitest';
import { repositoryOf } from '../../../src/reconcile/observe/dependency-repository.ts';

describe('the repository of a reference', () => {
  it.each([
    ['r.test/shop/cart', 'r.test/shop/cart'],
    ['oci://r.test/shop/cart', 'r.test/shop/cart'],
    ['oci://r.test/shop/cart:1.2.0', 'r.test/shop/cart'],
    ['r.test/shop/cart@sha256:0011', 'r.test/shop/cart'],
    ['r.test/shop/cart:1.2.0@sha256:0011', 'r.test/shop/cart'],
    ['localhost:5000/cart', 'localhost:5000/cart'],
    ['localhost:5000/cart:1', 'localhost:5000/cart'],
    ['R.test/shop/cart', 'r.test/shop/cart'],
    ['docker.io/library/redis:7', 'docker.io/library/redis'],
    ['index.docker.io/acme/cart', 'docker.io/acme/cart'],
    ['acme/cart', 'docker.io/acme/cart'],
    ['redis', 'docker.io/library/redis'],
    ['', ''],
    ['oci://', ''],
  ])('%s is %s', (reference, repository) => {
    expect(repositoryOf(reference)).toBe(repository);
  });

  it.each([
    ['r.test/shop/cart', 'r.test/shop/carts'],
    ['r.test/cart', 'r.test:5000/cart'],
    ['acme/cart', 'r.test/acme/cart'],
  ])('tells %s from %s', (one, other) => {
    expect(repositoryOf(one)).not.toBe(repositoryOf(other));
  });
});
