"use strict";
class Things extends resource_1.APIResource {
    create(ownerID, params, options) {
        const { thing_id, 'Idempotency-Key': idempotencyKey, ...body } = params;
        return this._client.post((0, path_1.path) `/agents/${ownerID}/things`, { body, ...options });
    }
    list(query = {}, options) {
        return this._client.getAPIList('/agents', (pagination_1.CursorPage), { query, ...options });
    }
    watch({ id, wait } = {}) {
        return this.list();
    }
}
exports.Things = Things;
